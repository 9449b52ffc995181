-- claim: a replica with room takes what is due in a conversation: the turn of a
-- lost worker, or the next one. What nobody has touched for long is parked, and
-- its actor told. KEYS: the conversation, the index.
-- ARGV: 2 conversation, 3 owner, 4 nonce, 5 ttl (ms), 6 turn id, 7 setup,
--   8 most attempts, 9 the actor to whom 10 tells that his turn was untouched
--   ('' when that is not known yet), 10 the part that tells it,
--   11 by when a lease must have ended for its worker to be lost ('': by now),
--   12 the turn whose lease has ended as the index says, or ''
-- Returns {'claimed', claim}; {'exhausted', turn, actor, token, commits} when
--   the turn has lost all its workers and is to be abandoned under that token,
--   which the caller now holds; {'later', ms until the lease ends};
--   {'untouched', turn, actor} when the caller is to call again with 9 and 10;
--   {'parked', sender's token, look} when it was told; or {'nothing'}.
local c = ARGV[2]
local by = {owner = ARGV[3], nonce = ARGV[4], ttl = tonumber(ARGV[5]), turn = ARGV[6],
  setup = ARGV[7], claims = '1'}
local now = now_ms()

-- Parks what nobody has touched, in the step that tells of it: a turn, or the
-- one that a batch of waiting messages makes.
local function park(turn, actor, batch)
  if actor ~= ARGV[9] then return {'untouched', turn ~= '' and turn or by.turn, actor} end
  if batch then
    for _, b in ipairs(batch) do wait_drop(c, b[2]) end
    turn = by.turn
    begin(c, by, actor, batch, now)
  end
  void(c, turn, 'expired', now) -- an answer that nobody has acted on for so long counts no more
  redis.call('HSET', turn_key(turn), 'state', 'parked', 'token', '', 'wait', 'untouched', 'wait_id', 'u' .. now,
    'wait:u' .. now, 'untouched ' .. now)
  redis.call('HDEL', turn_key(turn), 'ended', 'card')
  if redis.call('HGET', conv_key(c), 'run') == turn then redis.call('HDEL', conv_key(c), 'run') end
  redis.call('HSET', conv_key(c), 'p:' .. actor, turn)
  redis.call('LREM', ready_key(c), 0, turn)
  redis.call('ZREM', INDEX, 't|' .. c .. '|' .. turn)
  redis.call('ZREM', RUNNING, c .. '|' .. turn)
  redis.call('ZREM', WAITING, c .. '|' .. turn)
  redis.call('ZADD', PARKED, now, c .. '|' .. turn)
  local sender = queue_parts(c, ARGV[10] ~= '' and {ARGV[10]} or {}, by, now)
  if redis.call('ZCARD', wait_key(c)) > 0 or redis.call('LLEN', ready_key(c)) > 0 then
    offer(c, now)
  else
    redis.call('ZREM', INDEX, 'q|' .. c)
  end
  return {'parked', sender[1], sender[2]}
end

local run, due = redis.call('HGET', conv_key(c), 'run'), ARGV[12]
if due ~= '' and due ~= run then
  -- The index names another turn than the conversation does.
  if redis.call('HGET', turn_key(due), 'state') == 'running' then return redis.error_reply('MEND ' .. c) end
  redis.call('ZREM', INDEX, 't|' .. c .. '|' .. due)
end
if not run then
  local got = claim_next(c, by, now)
  if got then return {'claimed', got} end
  if held_back then return park(held_back[1], held_back[2], held_back[3]) end
  return {'nothing'}
end
local t = redis.call('HMGET', turn_key(run), 'until', 'token', 'actor', 'attempts', 'progress', 'handed',
  'ran', 'claimed', 'commits', 'state', 'v')
if t[10] ~= 'running' or t[11] ~= '1' or not t[3] then return redis.error_reply('MEND ' .. c) end
local function answer(attempts, token)
  if attempts > tonumber(ARGV[8]) then return {'exhausted', run, t[3], token, t[9]} end
  return {'claimed', claimed(c, run)}
end
if claimed_before(c, by.nonce) then return answer(tonumber(t[4]), t[2]) end
-- A call may be late itself: what it says of a lease is what its caller saw.
local lost = t[6] or tonumber(t[1]) <= (tonumber(ARGV[11]) or now)
if tonumber(t[1]) > now or not lost then
  redis.call('ZREM', INDEX, 'q|' .. c)
  return {'later', math.max(tonumber(t[1]) - now, 1)}
end
if untouched(t[1], now) then return park(run, t[3]) end
local attempts = tonumber(t[4])
if t[5] == '1' then attempts = 1 elseif not t[6] then attempts = attempts + 1 end
if not t[6] then
  redis.call('HSET', turn_key(run), 'ran', tonumber(t[7]) + tonumber(t[1]) - tonumber(t[8]))
end
redis.call('HSET', turn_key(run), 'attempts', attempts)
return answer(attempts, lease(c, run, by, now))
