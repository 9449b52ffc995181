-- flow_write: writes a flow, which keeps the time that it has left.
-- KEYS: the flow, and its shard's list of flows, by when each goes.
-- ARGV: 1 name, 2 the revision that was read ('': there is to be none), 3 the new
--   revision, 4 owner, 5 sealed, 6 how long it lives (ms; for a new one)
-- Returns {1}, or {0} when it is another one by now, or gone. The same step again
-- is answered as the first time.
local rev = redis.call('HGET', KEYS[1], 'rev')
if rev == ARGV[3] then return {1} end
if (rev or '') ~= ARGV[2] then return {0} end
redis.call('HSET', KEYS[1], 'rev', ARGV[3], 'owner', ARGV[4], 'sealed', ARGV[5])
if not rev then
  local t = redis.call('TIME')
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  redis.call('ZADD', KEYS[2], now + ARGV[6], ARGV[1])
  local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
  redis.call('PEXPIREAT', KEYS[2], string.format('%.0f', tonumber(last[2])))
end
return {1}
