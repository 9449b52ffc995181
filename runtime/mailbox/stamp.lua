-- stamp: a replica that can acknowledge says so, and learns whether nobody
-- could for a while: then that gap stands until it was read back. It keeps, or
-- takes over, the right to read. KEYS: the stamp, with the gap.
-- ARGV: 1 prefix, 2 owner, 3 how long nothing was heard from Slack (ms), 4 the
--   longest pause that is no gap (ms), 5 the longest silence before a new socket
--   that is no gap (ms; 0: no socket is new), 6 how long the right to read
--   lasts (ms), 7 nonce
-- Returns {now, 1 when this call opened or prolonged a gap}, and while a gap
--   stands also {its number, its beginning (ms), 1 when the caller is to read}.
local key, owner, now = KEYS[1], ARGV[2], now_ms()
local last = redis.call('HMGET', key, 'at', 'heard')
local heard = now - tonumber(ARGV[3])
local from
if last[1] then
  local at, before = tonumber(last[1]), tonumber(last[2])
  local deaf = tonumber(ARGV[5])
  if now - at > tonumber(ARGV[4]) or deaf > 0 and now - before > deaf then from = before end
  heard = math.max(heard, before)
end
redis.call('HSET', key, 'at', now, 'heard', heard)
if from then
  redis.call('HINCRBY', key, 'gap', 1)
  redis.call('HSET', key, 'call', ARGV[7])
  -- A reader that is at work has read up to now from the beginning it knows:
  -- what it must read again begins here.
  if redis.call('HSETNX', key, 'from', from) == 1 then
    redis.call('HSET', key, 'opened', now, 'by', owner)
  else
    redis.call('HSETNX', key, 'next', from)
  end
end
local gap = redis.call('HMGET', key, 'from', 'gap', 'holder', 'until', 'call')
if not gap[1] then return {now, 0} end
local mine = 0
if gap[3] == owner or not gap[4] or tonumber(gap[4]) <= now then
  mine = 1
  redis.call('HSET', key, 'holder', owner, 'until', now + tonumber(ARGV[6]))
end
return {now, gap[5] == ARGV[7] and 1 or 0, gap[2], gap[1], mine}
