-- Put another value in place of this one, or delete it.
-- KEYS: rows, due, what was answered before. ARGV: where rows lie, the row, now, how long to remember the answer,
-- what must be there ("=" and the value, or "" for anything), what to do, value, until, life.
local place, member, rows, due = ARGV[1], ARGV[2], KEYS[1], KEYS[2]
local before = redis.call('GET', KEYS[3])
if before then return tonumber(before) end
local stands = read(redis.call('GET', place .. member), tonumber(ARGV[3]))
if not stands or (ARGV[5] ~= '' and ARGV[5] ~= '=' .. stands) then return remember(KEYS[3], 0, ARGV[4]) end
if ARGV[6] == 'delete' then
  remove(place, member, rows, due)
  bound(place, rows, due)
else
  shelve(place, member, rows, due, ARGV[7], ARGV[8], ARGV[9])
end
return remember(KEYS[3], 1, ARGV[4])
