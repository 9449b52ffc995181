-- settle: the author of an unread message turned out not to instruct: it leaves
-- its lane and is context. KEYS: the conversation, the message.
-- ARGV: 2 conversation, 3 ts, 4 author
-- Returns {1}, or {0} when it does not wait any more.
local c, ts, author = ARGV[2], ARGV[3], ARGV[4]
local m = msg_key(place_of(c), ts)
local t = redis.call('HMGET', m, 'state', 'turn', 'body')
if t[1] == 'waiting' then wait_drop(c, lane_member(ts, author))
elseif t[1] == 'steer' then redis.call('ZREM', steer_key(t[2]), lane_member(ts, author))
else return {0} end
redis.call('PEXPIRE', m, MESSAGE_LIFE)
redis.call('HSET', m, 'state', 'settled') -- not passive: its key stays claimed
redis.call('HDEL', m, 'turn', 'unchecked')
redis.call('RPUSH', thread_key(c), ts .. '\n' .. t[3])
redis.call('LTRIM', thread_key(c), -200, -1)
rest(c)
return {1}
