-- flow_write: writes a flow, which keeps the time that it has left.
-- KEYS: the flow.
-- ARGV: 1 the revision that was read ('': there is to be none), 2 the new revision,
--   3 owner, 4 sealed, 5 how long it lives (ms; for a new one)
-- Returns {1}, or {0} when it is another one by now, or gone. The same step again
-- is answered as the first time.
local rev = redis.call('HGET', KEYS[1], 'rev')
if rev == ARGV[2] then return {1} end
if (rev or '') ~= ARGV[1] then return {0} end
redis.call('HSET', KEYS[1], 'rev', ARGV[2], 'owner', ARGV[3], 'sealed', ARGV[4])
if not rev then redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
return {1}
