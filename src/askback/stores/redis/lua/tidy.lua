-- KEYS: rows, due. ARGV: where rows lie, now, most.
local gone = tidy(ARGV[1], KEYS[1], KEYS[2], ARGV[2], tonumber(ARGV[3]))
if gone > 0 then bound(ARGV[1], KEYS[1], KEYS[2]) end
return gone
