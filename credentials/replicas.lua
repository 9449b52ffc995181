-- replicas: those that live.
-- KEYS: the list of replicas, by when they are taken for dead.
-- Returns each one.
local t = redis.call('TIME')
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. (t[1] * 1000 + math.floor(t[2] / 1000)), '+inf')
