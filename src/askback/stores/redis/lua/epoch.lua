-- Which epoch this is: a hash with its id, the run of the server it was made in, how many keys were evicted by then,
-- and whether it outlives a restart.

local function told_by(section, field)
  return string.match(redis.call('INFO', section), field .. ':([%w-]+)') or ''
end

local function begin_epoch(key, token, is_sure)
  local id = string.sub(redis.sha1hex(token), 1, 16)
  redis.call('HSET', key, 'id', id, 'run', told_by('server', 'run_id'),
    'evicted', told_by('stats', 'evicted_keys'), 'sure', is_sure)
  return id
end

-- The id as it is now; another from now on, made of the caller's token, if keys are gone.
local function epoch_now(key, token, looks_for_evictions)
  local kept = redis.call('HMGET', key, 'id', 'evicted', 'sure')
  if not kept[1] then return begin_epoch(key, token, '0') end
  if looks_for_evictions and told_by('stats', 'evicted_keys') ~= kept[2] then
    return begin_epoch(key, token, kept[3])
  end
  return kept[1]
end
