-- A new connection: the server may have been started anew since, or a replica have taken its place. What it wrote to
-- its disk before each answer is all there after a restart; what a replica had not heard yet is lost.
-- KEYS: epoch. ARGV: a token, whether all is on the disk before it is answered.
local is_sure = (ARGV[2] == '1' and told_by('persistence', 'aof_enabled') == '1'
  and told_by('replication', 'second_repl_offset') == '-1') and '1' or '0'
local id = epoch_now(KEYS[1], ARGV[1], false)
local kept = redis.call('HMGET', KEYS[1], 'run', 'sure', 'evicted')
local run, evicted = told_by('server', 'run_id'), told_by('stats', 'evicted_keys')
if kept[1] == run then
  if kept[3] ~= evicted then id = begin_epoch(KEYS[1], ARGV[1], is_sure) end
elseif not (kept[2] == '1' and is_sure == '1' and evicted == '0') then
  id = begin_epoch(KEYS[1], ARGV[1], is_sure)
end
redis.call('HSET', KEYS[1], 'run', run, 'sure', is_sure, 'evicted', evicted)
return {id, told_by('memory', 'maxmemory') ~= '0' and told_by('memory', 'maxmemory_policy') or 'noeviction'}
