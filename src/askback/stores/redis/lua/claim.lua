-- Who may run this turn. Gives the verdict, the epoch, and what belongs to the verdict.
-- KEYS: the row, epoch, the mark of this very claim, if it was abandoned.
local now, turn, digest, keep_until = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]
local may_take_over, token, epoch, lease = ARGV[5] == '1', ARGV[6], ARGV[7], tonumber(ARGV[8])
local life, has_waited, alive_there = ARGV[9], ARGV[10] == '1', ARGV[11]

local id = epoch_now(KEYS[2], token, epoch ~= '')
if epoch ~= '' and epoch ~= id then return {'changed', id} end

local row = KEYS[1]
local kept = redis.call('HMGET', row, 'until', 'turn', 'digest', 'run_turn', 'run_digest', 'token', 'alive', 'lease')
local runner = kept[6]
local time = redis.call('TIME')
local wall = time[1] * 1000 + math.floor(time[2] / 1000)

local function is_dead()
  if runner == '' then return true end -- it left a note and went
  if runner == alive_there or tonumber(kept[7]) > wall then return false end
  -- Nobody could say that he lives while the server was down.
  return tonumber(told_by('server', 'uptime_in_seconds')) * 1000 > tonumber(kept[8])
end

-- What a waiter has waited for is not over before he has seen it.
local is_over = not kept[1]
  or (tonumber(kept[1]) <= now and not has_waited and (not runner or is_dead()))

if not is_over then
  if runner == token then -- asked a second time, since the answer was lost
    return {'granted', id, redis.call('HGET', row, 'noted') or ''}
  end
  local latest = tonumber(runner and kept[4] or kept[2])
  if turn < latest then return {'rejected', id} end
  if turn == latest then
    if digest ~= (runner and kept[5] or kept[3]) then return {'rejected', id} end
    if not runner then
      local result = redis.call('HGET', row, 'result')
      return result and {'finished', id, result} or {'rejected', id}
    end
    if not is_dead() then return {'waits', id, tonumber(kept[7]) - wall, runner} end
    if not may_take_over then return {'died', id} end
  end
end

if redis.call('EXISTS', KEYS[3]) == 1 then return {'rejected', id} end

local run = {'run_turn', ARGV[2], 'run_digest', digest, 'token', token, 'alive', wall + lease, 'lease', lease}
if is_over then
  if kept[1] then redis.call('DEL', row) end
  redis.call('HSET', row, 'until', keep_until, 'turn', -1, 'digest', '', unpack(run))
  redis.call('PEXPIRE', row, life)
  return {'granted', id, ''}
end

local noted = ''
if runner and tonumber(kept[4]) < turn then
  -- Overtaken while it was being run: it is spent, and will have no result.
  redis.call('HSET', row, 'turn', kept[4], 'digest', kept[5])
  redis.call('HDEL', row, 'result', 'by', 'noted')
  redis.call('PUBLISH', row, '')
elseif runner then
  noted = redis.call('HGET', row, 'noted') or ''
end
if tonumber(keep_until) > tonumber(kept[1]) then redis.call('HSET', row, 'until', keep_until) end
redis.call('HSET', row, unpack(run))
redis.call('PEXPIRE', row, life, 'GT')
return {'granted', id, noted}
