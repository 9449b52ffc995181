-- remove: a message was deleted. KEYS: the message, the index.
-- ARGV: 2 conversation, 3 ts, 4 row (a letter for each place), 5 the deletion's
--   ts, 6 owner, 7 nonce, 8 ttl (ms), 9 turn id, 10 setup, 11 claims
-- Returns {letter, turn, conversation, author, claimed or false, what a stop
--   took back...}. A message is deleted once: again is answered as it was.
local c, row = ARGV[2], ARGV[4]
local by = {owner = ARGV[6], nonce = ARGV[7], ttl = tonumber(ARGV[8]), turn = ARGV[9],
  setup = ARGV[10], claims = ARGV[11]}
local got, took_back = false, {}
local function remove(ts, place, f)
  local m = msg_key(place_of(c), ts)
  local letter = string.sub(row, place + 1, place + 1)
  if letter == 'k' then
    redis.call('HSET', m, 'v', 1, 'state', 'deleted', 'conv', c, 'first', 'i')
    redis.call('PEXPIRE', m, MESSAGE_LIFE)
  elseif letter == 'w' then
    leave_lane(c, ts, f)
  elseif letter == 's' then
    blank(ts, f)
    got, took_back = stop_turn(c, f.turn, DELETION, ARGV[5], by, now_ms())
  elseif letter == 'b' then
    -- What its turn does not carry must not come back as a follow-up.
    if f.turn then redis.call('HDEL', turn_key(f.turn), 'u:' .. ts, 'k:' .. ts) end
    blank(ts, f)
    thread_remove(c, ts)
    redis.call('HSET', m, 'state', 'deleted')
  end
  -- One that was handed back stands in the log that it was read in, too.
  local read = redis.call('HMGET', m, 'handed_turn', 'handed_at')
  if read[1] then blank(ts, {turn = read[1], at = read[2], author = f.author}) end
  redis.call('HDEL', m, 'body')
  return {letter, f.turn or '', c, f.author or '', false}
end

local place, f = standing(c, ARGV[3])
if f.conv then c = f.conv end
if f.removed then return {f.removed, f.turn or '', c, f.author or '', claimed_before(c, by.nonce)} end
local out = remove(ARGV[3], place, f)
if f.corrected then
  -- Its new text goes with it, wherever that stands.
  local where, g = standing(c, f.corrected)
  local other = g.state and remove(f.corrected, where, g) or out
  if other[1] == 's' then out[1], out[2] = 's', other[2] end
end
redis.call('HSET', msg_key(place_of(c), ARGV[3]), 'removed', out[1])
if out[2] ~= '' then redis.call('HSET', msg_key(place_of(c), ARGV[3]), 'turn', out[2]) end
out[5] = got
for _, ts in ipairs(took_back) do out[#out + 1] = ts end
return out
