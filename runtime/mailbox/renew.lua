-- renew: the holder keeps a turn for another ttl, also when its lease has ended
-- and nobody else has claimed it. KEYS: the turn, the index.
-- ARGV: 2 conversation, 3 turn, 4 token, 5 ttl (ms)
-- Returns {} when the token is stale, else {stopped by, stop ts, unread steers}.
local c, turn, token = ARGV[2], ARGV[3], ARGV[4]
if not holds(turn, token) then return {} end
local ends = now_ms() + tonumber(ARGV[5])
redis.call('HSET', turn_key(turn), 'until', ends)
redis.call('ZADD', INDEX, ends, 't|' .. c .. '|' .. turn)
local t = redis.call('HMGET', turn_key(turn), 'stop_by', 'stop_ts')
return {t[1] or '', t[2] or '', redis.call('ZCARD', steer_key(turn))}
