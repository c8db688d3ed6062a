-- What is still being run. Gives the places of those that were lost meanwhile.
-- KEYS: rows. ARGV: lease, then a token for each row.
local lease, lost = tonumber(ARGV[1]), {}
local time = redis.call('TIME')
local alive = time[1] * 1000 + math.floor(time[2] / 1000) + lease
for place, row in ipairs(KEYS) do
  if redis.call('HGET', row, 'token') == ARGV[place + 1] then
    redis.call('HSET', row, 'alive', alive)
    redis.call('PEXPIRE', row, 3 * lease, 'GT')
  else
    table.insert(lost, place)
  end
end
return lost
