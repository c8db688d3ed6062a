-- KEYS: spent. ARGV: now, until, token, life.
local by = read(redis.call('GET', KEYS[1]), tonumber(ARGV[1]))
if by then return by == ARGV[3] and 1 or 0 end
redis.call('SET', KEYS[1], ARGV[2] .. ':' .. ARGV[3], 'PX', ARGV[4])
return 1
