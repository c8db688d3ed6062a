-- KEYS: rows, due. ARGV: where rows lie, the row, now, value, until, life, kind, holder, weight, most of the holder, most
-- in all. Gives how many rows were dropped.
local place, member, kind, holder, weight = ARGV[1], ARGV[2], ARGV[7], ARGV[8], tonumber(ARGV[9])
local home, of_kind, of_holder = cap_keys(KEYS[1], kind, holder)
tidy(place, KEYS[1], KEYS[2], ARGV[3], MANY)

local more, former = weight, redis.call('HGET', home, member)
if former then
  local cap = cmsgpack.unpack(former)
  if cap[1] == kind and cap[2] == holder then more = weight - cap[3] else uncap(KEYS[1], member) end
end
shelve(place, member, KEYS[1], KEYS[2], ARGV[4], ARGV[5], ARGV[6])
redis.call('HSET', home, member, cmsgpack.pack({kind, holder, weight}))
local number = redis.call('HINCRBY', home .. ':weights', '', 1)
for _, group in ipairs({of_kind, of_holder}) do
  redis.call('ZADD', group, 'NX', number, member)
  redis.call('HINCRBY', home .. ':weights', group, more)
end
for _, key in ipairs({home, home .. ':weights', of_kind, of_holder}) do
  if redis.call('PEXPIRE', key, ARGV[6], 'NX') == 0 then redis.call('PEXPIRE', key, ARGV[6], 'GT') end
end

local dropped = 0
for place_in_order, group in ipairs({of_holder, of_kind}) do -- the holder's own rows go before those of others
  local most = tonumber(ARGV[9 + place_in_order])
  while tonumber(redis.call('HGET', home .. ':weights', group)) > most do
    local oldest = redis.call('ZRANGE', group, 0, 1)
    local gone = oldest[1] ~= member and oldest[1] or oldest[2]
    if not gone then break end
    remove(place, gone, KEYS[1], KEYS[2])
    dropped = dropped + 1
  end
end
if dropped > 0 then bound(place, KEYS[1], KEYS[2]) end
return dropped
