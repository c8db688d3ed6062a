-- Some of all keys: how many have expired, and away with them if so told.
-- KEYS: claims, then others. ARGV: now, how many are claims, whether to forget.
local now, claims, forgets = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1'
local time = redis.call('TIME')
local wall = time[1] * 1000 + math.floor(time[2] / 1000)
local up = tonumber(told_by('server', 'uptime_in_seconds')) * 1000
local over, gone = 0, 0

local function is_over(place, key)
  if place <= claims then
    local kept = redis.call('HMGET', key, 'until', 'token', 'alive', 'lease')
    if not kept[1] then return false, true end
    local is_left = not kept[2] or kept[2] == '' or (tonumber(kept[3]) <= wall and up > tonumber(kept[4]))
    return tonumber(kept[1]) <= now and is_left
  end
  local head = redis.call('GETRANGE', key, 0, 40)
  if head == '' then return false, true end
  local due = string.match(head, '^([^:]*):')
  return due ~= '' and tonumber(due) <= now
end

for place, key in ipairs(KEYS) do
  local expired, is_gone = is_over(place, key)
  if is_gone then gone = gone + 1 end
  if expired then
    over = over + 1
    if forgets then redis.call('DEL', key) end
  end
end
return {over, gone}
