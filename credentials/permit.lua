-- permit: gives out the right to put an account, once.
-- KEYS: the owner's permits, by when each goes.
-- ARGV: 1 the permit, 2 how long it lives (ms)
-- Returns {1}. The same step again is answered as the first time.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', tonumber(last[2])))
return {1}
