-- audit_append: a record is kept once, however often it is appended, and old ones
-- are taken out.
-- KEYS: the audit log, and what stands for this record's key.
-- ARGV: 1 record, 2 how long its key is known (ms), 3 how long records are kept (ms)
-- Returns {1}, or {0} when it was kept before.
if not redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[2]) then return {0} end
redis.call('XADD', KEYS[1], '*', 'r', ARGV[1])
local t = redis.call('TIME')
local oldest = t[1] * 1000 + math.floor(t[2] / 1000) - ARGV[3]
redis.call('XTRIM', KEYS[1], 'MINID', string.format('%.0f', oldest))
return {1}
