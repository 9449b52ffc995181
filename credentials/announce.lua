-- announce: a replica says that it lives, and which keys it has.
-- KEYS: the list of replicas, by when they are taken for dead.
-- ARGV: 1 the replica, 2 for how long that holds (ms)
-- Returns {1}.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return {1}
