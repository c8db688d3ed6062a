-- KEYS: the row, the mark of a claim that is withdrawn. ARGV: token, and how long to keep the mark: a claim whose
-- answer was never seen may still be on its way.
local row, token = KEYS[1], ARGV[1]
local kept = redis.call('HMGET', row, 'token', 'turn', 'noted')
if kept[1] ~= token then
  if ARGV[2] ~= '' then redis.call('SET', KEYS[2], '', 'PX', ARGV[2]) end
  return 0
end
if kept[3] and kept[3] ~= '' then
  redis.call('HSET', row, 'token', '', 'alive', 0) -- with a note its runner counts as dead
elseif kept[2] == '-1' then
  redis.call('DEL', row)
else
  redis.call('HDEL', row, 'run_turn', 'run_digest', 'token', 'alive', 'lease', 'noted')
end
redis.call('PUBLISH', row, '')
return 1
