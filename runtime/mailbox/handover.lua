-- handover: the holder gives a turn up at a boundary; any replica may go on at
-- once, and no attempt is counted. The token goes with it, so that a renewal
-- under way does not take the turn back for nobody. KEYS: the turn, the index.
-- ARGV: 2 conversation, 3 turn, 4 token
-- Returns {1}, or {0} when the token is stale.
local c, turn = ARGV[2], ARGV[3]
if redis.call('HGET', turn_key(turn), 'handed') == ARGV[4] then return {1} end
if not holds(turn, ARGV[4]) then return {0} end
local now = now_ms()
local t = redis.call('HMGET', turn_key(turn), 'ran', 'claimed')
redis.call('HSET', turn_key(turn), 'until', now, 'handed', ARGV[4], 'token', '', 'ran', tonumber(t[1]) + now - tonumber(t[2]))
redis.call('ZREM', INDEX, 't|' .. c .. '|' .. turn)
offer(c, now)
return {1}
