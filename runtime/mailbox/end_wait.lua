-- end_wait: what a parked turn waited for is settled; it goes to the queue and
-- runs as soon as none runs. Whatever comes later finds nothing to end, in a
-- later wait of the same turn neither. KEYS: the turn, the conversation, the index.
-- ARGV: 2 conversation, 3 turn, 4 which wait ('': the one whose time is over),
--   5 how it ended (opaque), 6 owner, 7 nonce, 8 ttl (ms), 9 next turn id,
--   10 setup, 11 claims
-- Returns {0} when it does not wait, or waits for something else; else {1, claim
--   or false}.
local c, turn, wait = ARGV[2], ARGV[3], ARGV[4]
local by = {owner = ARGV[6], nonce = ARGV[7], ttl = tonumber(ARGV[8]), turn = ARGV[9],
  setup = ARGV[10], claims = ARGV[11]}
local now = now_ms()
local t = redis.call('HMGET', turn_key(turn), 'state', 'ended_by', 'wait_id', 'wait_until')
if t[2] == by.nonce then return {1, claimed_before(c, by.nonce)} end
local ends = t[1] == 'parked' and tonumber(t[4] or '')
if t[1] ~= 'parked' or wait ~= '' and wait ~= t[3] or wait == '' and not (ends and ends <= now) then
  -- The index may have been behind.
  if ends then due_wait(c, turn, ends) else redis.call('ZREM', INDEX, 'w|' .. c .. '|' .. turn) end
  return {0}
end
redis.call('HSET', turn_key(turn), 'ended_by', by.nonce)
queue(c, turn, ARGV[5], now)
return {1, claim_next(c, by, now)}
