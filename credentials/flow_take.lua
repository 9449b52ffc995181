-- flow_take: takes out a flow in the state in which it was read.
-- KEYS: the flow, and its shard's list of flows.
-- ARGV: 1 name, 2 the revision that was read
-- Returns {1}, or {0} when it is another one by now, or gone.
if redis.call('HGET', KEYS[1], 'rev') ~= ARGV[2] then return {0} end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return {1}
