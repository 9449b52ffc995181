-- edit: a message has another text. KEYS: the message, the index.
-- ARGV: 2 conversation, 3 ts, 4 author, 5 row (a letter for each place, and for
--   each again where an edit has joined already), 6 body with the new text,
--   7 the edit's ts, 8 body as a correction, 9 cap of unread messages for one's
--   own turn
-- Returns {letter, turn, conversation}.
local c, ts, author, row = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local where = place_of(c)
local m = msg_key(where, ts)
local place, f = standing(c, ts)
if f.conv then c = f.conv end
local letter = string.sub(row, place * 2 + (f.corrected and 2 or 1), place * 2 + (f.corrected and 2 or 1))
if f.author and f.author ~= author then letter = 'n' end
if letter == 'r' then
  redis.call('HSET', m, 'body', ARGV[6])
  redis.call('HINCRBY', m, 'version', 1)
elseif letter == 'w' then
  leave_lane(c, ts, f)
elseif letter == 'c' then
  local t = redis.call('HMGET', turn_key(f.turn), 'stop_ts', 'owner', 'state')
  if t[1] or redis.call('ZCARD', steer_key(f.turn)) >= tonumber(ARGV[9]) then return {'n', f.turn, c} end
  local correction = msg_key(where, ARGV[7])
  redis.call('HSET', correction, 'v', 1, 'state', 'steer', 'conv', c, 'author', author, 'first', 't',
    'body', ARGV[8], 'turn', f.turn)
  redis.call('ZADD', steer_key(f.turn), 0, lane_member(ARGV[7], author))
  redis.call('HSET', m, 'corrected', 1)
  if t[3] == 'running' then signal(t[2], 'steer', f.turn) end
end
return {letter, f.turn or '', c}
