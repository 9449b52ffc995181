-- release: takes an intent back. Whoever wrote it knows that the refresh token was
-- not spent.
-- KEYS: the account. ARGV: 1 the revision, 2 the intent
-- Returns {1}, or {0} when the record is another one by now.
local f = redis.call('HMGET', KEYS[1], 'rev', 'intent')
if f[1] ~= ARGV[1] then return {0} end
if f[2] == ARGV[2] then redis.call('HDEL', KEYS[1], 'intent', 'until') end
return {1}
