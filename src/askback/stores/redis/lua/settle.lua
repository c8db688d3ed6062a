-- Gives the value that stands, or nothing if it is this one.
-- KEYS: settled. ARGV: now, until, value, life.
local stands = read(redis.call('GET', KEYS[1]), tonumber(ARGV[1]))
if stands then return stands end
redis.call('SET', KEYS[1], ARGV[2] .. ':' .. ARGV[3], 'PX', ARGV[4])
redis.call('PUBLISH', KEYS[1], '')
return false
