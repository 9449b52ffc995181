-- What a turn puts out, what it waits for, and how that ends.

-- Queues parts ('ID\nPAYLOAD') and takes the sender's lease for this process
-- when it is free. Returns the sender's token ('' when another holds it) and
-- whether an earlier sender may have posted already. Without by, which is a
-- process that can send, the outbox is left to any.
local function queue_parts(c, parts, by, now)
  if #parts == 0 then return {'', 0} end
  local had = redis.call('LLEN', out_key(c))
  for _, part in ipairs(parts) do
    redis.call('RPUSH', out_key(c), part)
    redis.call('ZADD', UNSENT, 'NX', now, c .. '|' .. string.match(part, '^[^\n]*'))
  end
  local s = redis.call('HMGET', conv_key(c), 's_until')
  if s[1] and tonumber(s[1]) > now then return {'', 0} end
  if not by then
    due_send(c, now)
    redis.call('PUBLISH', channel('work'), c)
    return {'', 0}
  end
  local fence = redis.call('HINCRBY', conv_key(c), 'fence', 1)
  local token = fence .. '-' .. by.nonce
  redis.call('HSET', conv_key(c), 's_tok', token, 's_until', now + by.ttl)
  due_send(c, now + by.ttl)
  return {token, had > 0 and 1 or 0}
end

-- A time of the store's clock as JSON has it, and how a wait ended in the form of
-- chat.Ending: of our own words alone.
local function utc(ms)
  local s = math.floor(ms / 1000)
  local days, rest = math.floor(s / 86400) + 719468, s % 86400 -- since a 1 March
  local era = math.floor(days / 146097)
  local doe = days - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local month = math.floor((5 * doy + 2) / 153)
  local day = doy - math.floor((153 * month + 2) / 5) + 1
  month = month < 10 and month + 3 or month - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02dZ', year, month, day,
    math.floor(rest / 3600), math.floor(rest / 60) % 60, rest % 60)
end
local function ending(how, now) return '{"how":"' .. how .. '","time":"' .. utc(now) .. '"}' end

-- Each wait of a turn is kept for an operator: 'KIND ASKED', and from its end on
-- 'KIND ASKED ENDED HOW BY'.
local function wait_over(turn, how, who, now)
  local id = redis.call('HGET', turn_key(turn), 'wait_id')
  local asked = id and redis.call('HGET', turn_key(turn), 'wait:' .. id)
  if not asked or not string.find(asked, '^%S+ %d+$') then return end
  redis.call('HSET', turn_key(turn), 'wait:' .. id, asked .. ' ' .. now .. ' ' .. how .. ' ' .. who)
end

-- A parked turn's wait has ended: it waits for a worker. as is how it ended in the
-- form of chat.Ending.
local function queue(c, turn, as, how, who, now)
  wait_over(turn, how, who, now)
  redis.call('HSET', turn_key(turn), 'state', 'queued', 'ended', as)
  redis.call('HDEL', turn_key(turn), 'wait_until')
  redis.call('ZREM', INDEX, 'w|' .. c .. '|' .. turn)
  redis.call('RPUSH', ready_key(c), turn)
  redis.call('ZREM', PARKED, c .. '|' .. turn)
  redis.call('ZADD', WAITING, now, c .. '|' .. turn)
end

-- The part that says on a wait's card that nobody can answer it any more stands
-- with the turn, in it (see void in wait.go) what only the end knows. It is queued
-- once, by the step that ends the wait without an answer, or that undoes an answer
-- before a worker has taken it up. Of a wait that is not the turn's last it is
-- stale: a process of another release has parked the turn since. Returns the part.
local function void(c, turn, how, now)
  local v = redis.call('HMGET', turn_key(turn), 'void', 'card_wait', 'wait_id')
  if not v[1] then return end
  redis.call('HDEL', turn_key(turn), 'void')
  if v[2] ~= v[3] then return end
  local known = {how = how, time = utc(now), ts = string.format('%d.%03d000', math.floor(now / 1000), now % 1000)}
  local part = string.gsub(v[1], '\1(%a+)', known)
  queue_parts(c, {part}, nil, now)
  return part
end

-- A card that nobody will see ends the wait that it asks for. Returns what void does.
local function undelivered(c, id, now)
  local turn = string.match(id, '^[^/]*')
  if redis.call('TYPE', turn_key(turn)).ok ~= 'hash' then return end
  local t = redis.call('HMGET', turn_key(turn), 'state', 'card', 'card_wait', 'wait_id')
  if t[1] ~= 'parked' or t[2] ~= id or t[3] ~= t[4] then return end
  queue(c, turn, ending('undelivered', now), 'undelivered', '', now)
  if redis.call('HEXISTS', conv_key(c), 'run') == 0 then offer(c, now) end
  return void(c, turn, 'undelivered', now)
end
