-- KEYS: the row. ARGV: token, note.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'noted', ARGV[2])
return 1
