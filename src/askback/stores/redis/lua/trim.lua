-- The last line stays, so that numbers go on. KEYS: ledger. ARGV: the first number to keep.
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not last then return 0 end
local number = math.min(tonumber(ARGV[1]), tonumber(string.match(last[1], '^%d+')))
return redis.call('XTRIM', KEYS[1], 'MINID', string.format('%.0f-0', math.max(number, 1)))
