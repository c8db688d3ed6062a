-- The vault's rows in order (`rows`), and when those go that do not stay for good (`due`). Both go when all they name
-- has gone. As long as something stays, so do both: what is over is in `rows` too, and only `due` tells it apart.
local FEW, MANY = 8, 64

local function bound(place, rows, due)
  local longest = redis.call('ZRANGE', due, 0, 0, 'REV')[1]
  local life = longest and redis.call('PTTL', place .. longest) or -1
  if life < 0 or redis.call('ZCARD', rows) > redis.call('ZCARD', due) then
    redis.call('PERSIST', rows)
    redis.call('PERSIST', due)
  else
    redis.call('PEXPIRE', rows, math.max(life, 1))
    redis.call('PEXPIRE', due, math.max(life, 1))
  end
end

local function remove(place, member, rows, due)
  redis.call('DEL', place .. member)
  redis.call('ZREM', due, member)
  redis.call('ZREM', rows, member)
  uncap(rows, member)
end

local function tidy(place, rows, due, now, most)
  local gone = redis.call('ZRANGE', due, '-inf', now, 'BYSCORE', 'LIMIT', 0, most)
  for _, member in ipairs(gone) do remove(place, member, rows, due) end
  return #gone
end

-- `life` is empty for good.
local function shelve(place, member, rows, due, value, keep_until, life)
  redis.call('ZADD', rows, 0, member)
  if life == '' then
    redis.call('SET', place .. member, ':' .. value)
    redis.call('ZREM', due, member)
  else
    redis.call('SET', place .. member, keep_until .. ':' .. value, 'PX', life)
    redis.call('ZADD', due, keep_until, member)
  end
  bound(place, rows, due)
end

-- Asked a second time, since the answer was lost: what was answered then.
local function remember(mark, outcome, life)
  redis.call('SET', mark, outcome, 'PX', life)
  return outcome
end
