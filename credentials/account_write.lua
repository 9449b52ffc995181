-- account_write: writes a record over a state of it that was read.
-- KEYS: the account, its shard's list of accounts, and its owner's permits.
-- ARGV: 1 owner, 2 the revision that was read ('': there was none), 3 the new
--   revision, 4 sealed, 5 shown, 6 'put', 'swap' or 'settle', 7 the permit (put) or
--   the intent (settle), 8 '1': the new state is refused (swap)
-- Returns {1}, {0} when the record is another one by now, or, of a swap, {2} when
-- somebody asks the provider for new tokens, {3} when he has not come back, or, of
-- a put, {4} when its permit is spent or was taken back.
-- The same step again is answered as the first time.
local f = redis.call('HMGET', KEYS[1], 'rev', 'intent', 'until')
if f[1] == ARGV[3] then return {1} end
if (f[1] or '') ~= ARGV[2] then return {0} end
if ARGV[6] == 'settle' and f[2] ~= ARGV[7] then return {0} end
if ARGV[6] == 'swap' and f[2] then
  local t = redis.call('TIME')
  if tonumber(f[3]) > t[1] * 1000 + math.floor(t[2] / 1000) then return {2} end
  if ARGV[8] ~= '1' then return {3} end
end
if ARGV[6] == 'put' and redis.call('ZREM', KEYS[3], ARGV[7]) == 0 then return {4} end
redis.call('HSET', KEYS[1], 'rev', ARGV[3], 'sealed', ARGV[4], 'shown', ARGV[5])
redis.call('HDEL', KEYS[1], 'intent', 'until')
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return {1}
