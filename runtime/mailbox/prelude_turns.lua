-- Turns: how one begins, is claimed and held.

-- A claimer: {owner, nonce, ttl, turn, setup, claims ('1' when it has room)}.
local function lease(c, turn, by, now)
  local fence = redis.call('HINCRBY', conv_key(c), 'fence', 1)
  local token = fence .. '-' .. by.nonce
  redis.call('HSET', conv_key(c), 'run', turn)
  redis.call('HSET', turn_key(turn), 'state', 'running', 'token', token, 'owner', by.owner,
    'until', now + by.ttl, 'claimed', now, 'progress', 0, 'run:' .. fence, now .. ' ' .. by.owner)
  redis.call('HDEL', turn_key(turn), 'handed', 'void')
  redis.call('ZREM', INDEX, 'q|' .. c)
  redis.call('ZADD', INDEX, now + by.ttl, 't|' .. c .. '|' .. turn)
  redis.call('ZADD', RUNNING, 'NX', now, c .. '|' .. turn)
  return token
end

-- What a claimer is told of its turn: see Claimed in mailbox.go.
local function claimed(c, turn)
  local t = redis.call('HMGET', turn_key(turn), 'actor', 'token', 'attempts', 'setup', 'history',
    'ran', 'commits', 'stop_by', 'stop_ts', 'fresh', 'wait_id', 'wait', 'ended')
  for i = 1, 13 do t[i] = t[i] or '' end
  return {c, turn, t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10],
    redis.call('LRANGE', log_key(turn), 0, -1), redis.call('ZCARD', steer_key(turn)), t[11], t[12], t[13]}
end

-- The claim that a call with this nonce made before its answer was lost.
local function claimed_before(c, nonce)
  local run = redis.call('HGET', conv_key(c), 'run')
  if not run then return false end
  local t = redis.call('HMGET', turn_key(run), 'state', 'token')
  if t[1] ~= 'running' or string.sub(t[2] or '', -#nonce) ~= nonce then return false end
  return claimed(c, run)
end

-- A new turn of an author's batch ({ts, member, body} each), out of the lane already.
local function begin(c, by, author, batch, now)
  redis.call('HSET', turn_key(by.turn), 'v', 1, 'conv', c, 'actor', author, 'first', batch[1][1],
    'attempts', 1, 'commits', 0, 'ran', 0, 'born', now, 'setup', by.setup, 'fresh', 1,
    'history', redis.call('HGET', conv_key(c), 'closings') or 0)
  take_thread(c, by.turn, batch[1][1])
  for _, b in ipairs(batch) do take(c, by.turn, b[1], author, 'request', b[3]) end
end

-- Starts or resumes the conversation's next turn for the claimer, if none runs:
-- first those whose wait has ended, then the contiguous batch at the head of
-- the waiting messages. Without room the conversation is offered to others.
-- What nobody has touched for long (a restored backup, say) is not gone on with
-- by itself, unless going on is what the conversation does right now: then
-- held_back is {turn or '', actor}, and claim.lua parks it.
local held_back
local function untouched(since, now)
  return UNTOUCHED > 0 and since and now - since > UNTOUCHED
end
local function claim_next(c, by, now, going)
  if redis.call('HEXISTS', conv_key(c), 'run') == 1 then return false end
  local waits = redis.call('ZCARD', wait_key(c)) > 0
  if not waits and redis.call('LLEN', ready_key(c)) == 0 then
    redis.call('ZREM', INDEX, 'q|' .. c)
    return false
  end
  -- A turn begins once: a call that comes a second time, and so late that its
  -- turn is not its own any more, has nobody who listens.
  if by.claims ~= '1' or redis.call('EXISTS', turn_key(by.turn)) == 1 then
    offer(c, now)
    return false
  end
  local ready = redis.call('LINDEX', ready_key(c), 0)
  if ready and not going and untouched(redis.call('ZSCORE', WAITING, c .. '|' .. ready), now) then
    held_back = {ready, redis.call('HGET', turn_key(ready), 'actor')}
    offer(c, now)
    return false
  end
  redis.call('ZREM', INDEX, 'q|' .. c)
  if ready then
    redis.call('LPOP', ready_key(c))
    redis.call('ZREM', WAITING, c .. '|' .. ready)
    local actor, version = unpack(redis.call('HMGET', turn_key(ready), 'actor', 'v'))
    if version ~= '1' then error('a turn of another version') end
    redis.call('HDEL', conv_key(c), 'p:' .. actor)
    redis.call('HSET', turn_key(ready), 'attempts', 1)
    lease(c, ready, by, now)
    return claimed(c, ready)
  end
  local batch, author = {}, nil
  for _, member in ipairs(redis.call('ZRANGE', wait_key(c), 0, -1)) do
    local ts, a = lane_split(member)
    if author and a ~= author then break end
    author = a
    batch[#batch + 1] = {ts, member, body_of(c, ts)}
  end
  local parked = redis.call('HGET', conv_key(c), 'p:' .. author)
  local newest = redis.call('ZSCORE', WAITING, c .. '|' .. batch[#batch][2])
  if not parked and not going and untouched(newest, now) then
    held_back = {'', author, batch}
    offer(c, now)
    return false
  end
  for _, b in ipairs(batch) do wait_drop(c, b[2]) end
  if parked then
    for _, b in ipairs(batch) do
      redis.call('ZADD', steer_key(parked), 0, b[2])
      redis.call('HSET', msg_key(place_of(c), b[1]), 'state', 'steer', 'turn', parked)
    end
    return claim_next(c, by, now, going)
  end
  begin(c, by, author, batch, now)
  lease(c, by.turn, by, now)
  return claimed(c, by.turn)
end

-- Whether a write under this token is still allowed: the turn runs, and no
-- other claim has taken the token over.
local function holds(turn, token)
  local t = redis.call('HMGET', turn_key(turn), 'state', 'token')
  return t[1] == 'running' and t[2] == token
end
