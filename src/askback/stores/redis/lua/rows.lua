-- KEYS: rows, due. ARGV: now, from, to, most.
local now, most, found = tonumber(ARGV[1]), tonumber(ARGV[4]), {}
local from = ARGV[2]
while #found < most do
  local members = redis.call('ZRANGE', KEYS[1], from, ARGV[3], 'BYLEX', 'LIMIT', 0, most)
  if #members == 0 then break end
  for _, member in ipairs(members) do
    local due = redis.call('ZSCORE', KEYS[2], member)
    if #found < most and not (due and tonumber(due) <= now) then table.insert(found, member) end
  end
  from = '(' .. members[#members]
end
return found
