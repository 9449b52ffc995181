-- close_gap: the reader has read back all that a gap's number stands for. One
-- that was prolonged meanwhile stays open, from where it was prolonged.
-- KEYS: the stamp, with the gap. ARGV: 1 prefix, 2 owner, 3 number
-- Returns {1} when no gap of that number stands any more, else {0}.
local key = KEYS[1]
local gap = redis.call('HMGET', key, 'from', 'gap', 'holder', 'next')
if not gap[1] then return {1} end
if gap[3] ~= ARGV[2] then return {0} end
if gap[2] == ARGV[3] then
  redis.call('HDEL', key, 'from', 'opened', 'by', 'holder', 'until', 'next')
  return {1}
end
if gap[4] then
  redis.call('HSET', key, 'from', gap[4])
  redis.call('HDEL', key, 'next')
end
return {0}
