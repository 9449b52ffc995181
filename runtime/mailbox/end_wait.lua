-- end_wait: what a parked turn waited for is settled; it goes to the queue and
-- runs as soon as none runs. Whatever comes later finds nothing to end.
-- KEYS: the turn, the conversation, the index.
-- ARGV: 2 conversation, 3 turn, 4 how it ended (opaque), 5 owner, 6 nonce,
--   7 ttl (ms), 8 next turn id, 9 setup, 10 claims
-- Returns {0} when it no longer waits, else {1, claim or false}.
local c, turn = ARGV[2], ARGV[3]
local by = {owner = ARGV[5], nonce = ARGV[6], ttl = tonumber(ARGV[7]), turn = ARGV[8],
  setup = ARGV[9], claims = ARGV[10]}
local t = redis.call('HMGET', turn_key(turn), 'state', 'ended_by')
if t[2] == by.nonce then return {1, claimed_before(c, by.nonce)} end
if t[1] ~= 'parked' then return {0} end
local now = now_ms()
redis.call('HSET', turn_key(turn), 'ended_by', by.nonce)
queue(c, turn, ARGV[4], now)
return {1, claim_next(c, by, now)}
