-- route: what the router thinks of a message is done, if everything is still as
-- it was when it was asked. KEYS: the conversation, the turn, the message, the index.
-- ARGV: 2 conversation, 3 the running turn, 4 ts, 5 author, 6 the ts of the edit
--   that its text comes from ('' for none), 7 p (a waiting message of another
--   author's joins the turn as context) or d (an unread steer of its actor's waits
--   for a turn of its own), 8 nonce
-- Returns {1}, or {0} when nothing is changed. An author's order is kept: none
--   joins before an older one of his that waits, and none waits while a newer
--   one of his is about to be read.
local c, turn, ts, author = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local m, now = msg_key(place_of(c), ts), now_ms()
local f = redis.call('HMGET', m, 'state', 'conv', 'author', 'turn', 'edit', 'routed', 'handed')
if f[6] == ARGV[8] then return {1} end
if f[2] ~= c or f[3] ~= author or (f[5] or '') ~= ARGV[6] or f[7] then return {0} end
if redis.call('HGET', conv_key(c), 'run') ~= turn then return {0} end
local t = redis.call('HMGET', turn_key(turn), 'state', 'stop_ts', 'actor', 'owner')
if t[1] ~= 'running' or t[2] then return {0} end
local function other_of_his(lane, newer)
  for _, member in ipairs(redis.call('ZRANGE', lane, 0, -1)) do
    local other, a = lane_split(member)
    if a == author and (newer and other > ts or not newer and other < ts) then return true end
  end
end
if ARGV[7] == 'p' then
  if f[1] ~= 'waiting' or t[3] == author or other_of_his(wait_key(c), false) then return {0} end
  wait_drop(c, lane_member(ts, author))
  redis.call('HSET', m, 'state', 'steer', 'turn', turn, 'routed', ARGV[8])
  redis.call('ZADD', steer_key(turn), 0, lane_member(ts, author))
  signal(t[4], 'steer', turn)
else
  if f[1] ~= 'steer' or f[4] ~= turn or t[3] ~= author or other_of_his(steer_key(turn), true) then return {0} end
  redis.call('ZREM', steer_key(turn), lane_member(ts, author))
  follow_up(c, ts, author, now)
  redis.call('HSET', m, 'routed', ARGV[8])
end
return {1}
