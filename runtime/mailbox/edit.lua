-- edit: a message has another text. KEYS: the message, the index.
-- ARGV: 2 conversation, 3 ts, 4 author, 5 row (a letter for each place, and for
--   each again where an edit has joined already), 6 the edit's ts, 7 body with
--   the new text, 8 ts of the correction, 9 body as a correction
-- Returns {letter, turn, conversation}. The newest edit is the text: an older
-- one that comes late changes nothing, and the same again is answered as it was.
local c, ts, author, row, edit = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local m = msg_key(place_of(c), ts)
local place, f = standing(c, ts)
if f.conv then c = f.conv end
local turn = f.turn or ''
if f.edit == edit and f.edit_as then return {f.edit_as, turn, c} end
if f.edit and f.edit >= edit or f.author and f.author ~= author then return {'n', turn, c} end
local at = place * 2 + (f.corrected and 2 or 1)
local letter = string.sub(row, at, at)
if letter == 'r' then
  redis.call('HSET', m, 'body', ARGV[7])
  redis.call('HINCRBY', m, 'version', 1)
elseif letter == 'w' then
  leave_lane(c, ts, f)
elseif letter == 'c' then
  local t = redis.call('HMGET', turn_key(turn), 'stop_ts', 'owner', 'state')
  local correction = msg_key(place_of(c), ARGV[8])
  -- A turn that is being stopped takes no more steers, and what it had read
  -- goes with it.
  if t[1] or redis.call('EXISTS', correction) == 1 then return {'n', turn, c} end
  redis.call('HSET', correction, 'v', 1, 'state', 'steer', 'conv', c, 'author', author, 'first', 't',
    'body', ARGV[9], 'turn', turn)
  redis.call('ZADD', steer_key(turn), 0, lane_member(ARGV[8], author))
  redis.call('HSET', m, 'corrected', ARGV[8])
  if t[3] == 'running' then signal(t[2], 'steer', turn) end
end
if letter == 'r' or letter == 'w' or letter == 'c' then redis.call('HSET', m, 'edit', edit, 'edit_as', letter) end
return {letter, turn, c}
