-- KEYS: the row. ARGV: token, result. Sent a second time, since the answer was lost, it gives the same answer.
local row, token, result = KEYS[1], ARGV[1], ARGV[2]
local kept = redis.call('HMGET', row, 'token', 'run_turn', 'run_digest')
if kept[1] ~= token then
  local stands = redis.call('HMGET', row, 'by', 'result')
  return (stands[1] == token and stands[2] == result) and 1 or 0
end
redis.call('HSET', row, 'turn', kept[2], 'digest', kept[3], 'result', result, 'by', token)
redis.call('HDEL', row, 'run_turn', 'run_digest', 'token', 'alive', 'lease', 'noted')
redis.call('PUBLISH', row, '')
return 1
