-- claim: a replica with room takes what is due in a conversation: the turn of a
-- lost worker, or the next one. KEYS: the conversation, the index.
-- ARGV: 2 conversation, 3 owner, 4 nonce, 5 ttl (ms), 6 turn id, 7 setup,
--   8 most attempts
-- Returns {'claimed', claim}; {'exhausted', turn, actor, token, commits} when
--   the turn has lost all its workers and is to be abandoned under that token,
--   which the caller now holds; {'later', ms until the lease ends}; or
--   {'nothing'}.
local c = ARGV[2]
local by = {owner = ARGV[3], nonce = ARGV[4], ttl = tonumber(ARGV[5]), turn = ARGV[6],
  setup = ARGV[7], claims = '1'}
local now = now_ms()
local run = redis.call('HGET', conv_key(c), 'run')
if not run then
  local got = claim_next(c, by, now)
  if got then return {'claimed', got} end
  return {'nothing'}
end
local t = redis.call('HMGET', turn_key(run), 'until', 'token', 'actor', 'attempts', 'progress', 'handed',
  'ran', 'claimed', 'commits')
local function answer(attempts, token)
  if attempts > tonumber(ARGV[8]) then return {'exhausted', run, t[3], token, t[9]} end
  return {'claimed', claimed(c, run)}
end
if claimed_before(c, by.nonce) then return answer(tonumber(t[4]), t[2]) end
if tonumber(t[1]) > now then
  redis.call('ZREM', INDEX, 'q|' .. c)
  return {'later', tonumber(t[1]) - now}
end
local attempts = tonumber(t[4])
if t[5] == '1' then attempts = 1 elseif not t[6] then attempts = attempts + 1 end
if not t[6] then
  redis.call('HSET', turn_key(run), 'ran', tonumber(t[7]) + tonumber(t[1]) - tonumber(t[8]))
end
redis.call('HSET', turn_key(run), 'attempts', attempts)
return answer(attempts, lease(c, run, by, now))
