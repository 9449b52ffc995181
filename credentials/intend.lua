-- intend: writes down that somebody is about to spend a refresh token. There is
-- one intent for one state of a record, ever: one whose time is over stays, and
-- is not taken over, since the token may be spent.
-- KEYS: the account.
-- ARGV: 1 the revision that was read, 2 the intent, 3 for how long (ms)
-- Returns {1}, {0} when the record is another one by now, {2} when somebody else
-- is at it, {3} when he has not come back, or {} when there is no record. The same
-- step again is answered as the first time.
local f = redis.call('HMGET', KEYS[1], 'rev', 'intent', 'until')
if not f[1] then return {} end
if f[1] ~= ARGV[1] then return {0} end
if f[2] == ARGV[2] then return {1} end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if f[2] then return {tonumber(f[3]) > now and 2 or 3} end
redis.call('HSET', KEYS[1], 'intent', ARGV[2], 'until', now + ARGV[3])
return {1}
