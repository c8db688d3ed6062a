-- A value behind its time: "until:value", where no time is for good.
local function read(kept, now)
  if not kept then return false end
  local colon = string.find(kept, ':', 1, true)
  local due = string.sub(kept, 1, colon - 1)
  if due ~= '' and tonumber(due) <= now then return false end
  return string.sub(kept, colon + 1)
end
