-- Rows of kinds that are capped. Beside the vault's rows lie: for each such row its kind, holder and weight; for each
-- kind, and for each of its holders, the rows in the order in which they were put; and what they weigh together.
local function cap_keys(rows, kind, holder)
  local home = string.sub(rows, 1, -5) .. 'capped'
  return home, home .. ':' .. kind, home .. ':' .. kind .. '\0' .. holder
end

local function uncap(rows, member)
  local home = cap_keys(rows, '', '')
  local kept = redis.call('HGET', home, member)
  if not kept then return end
  local cap = cmsgpack.unpack(kept)
  local _, of_kind, of_holder = cap_keys(rows, cap[1], cap[2])
  redis.call('HDEL', home, member)
  for _, group in ipairs({of_kind, of_holder}) do
    redis.call('ZREM', group, member)
    if redis.call('HINCRBY', home .. ':weights', group, -cap[3]) <= 0 then
      redis.call('HDEL', home .. ':weights', group)
    end
  end
end
