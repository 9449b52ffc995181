-- commit: entries and, at a safe boundary, the steers that wait, in one step.
-- KEYS: the turn, its log. The same commit number again changes nothing and is
-- answered as the first was.
-- ARGV: 2 conversation, 3 turn, 4 token, 5 commit number, 6 flags (t: take
--   steers, a: an answer stands among the entries, which carries what was taken
--   before it), 7 allowed authors by comma, 8 number of messages that were said
--   before, 9 number of parts, then ts, author and body of each message, then
--   parts ('ID\nPAYLOAD'), then entries
-- Returns {} when the token is stale, else {stopped by, stop ts, unread steers,
--   unchecked lane members by comma, items taken...}.
local c, turn, token, n, flags = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
if not holds(turn, token) then return {} end
local t = redis.call('HMGET', turn_key(turn), 'actor', 'stop_by', 'stop_ts', 'commits', 'c_from', 'c_to', 'c_unchecked')
local function answer(from, to, unchecked)
  local out = {t[2] or '', t[3] or '', redis.call('ZCARD', steer_key(turn)), unchecked}
  if to > from then
    for _, item in ipairs(redis.call('LRANGE', log_key(turn), from, to - 1)) do out[#out + 1] = item end
  end
  return out
end
if n <= tonumber(t[4]) then return answer(tonumber(t[5] or 0), tonumber(t[6] or 0), t[7] or '') end
local parts = 10 + 3 * tonumber(ARGV[8])
local entries = parts + tonumber(ARGV[9])
for i = 10, parts - 3, 3 do
  -- Read from Slack: known from now on, so that an edit or a deletion finds it.
  local ts, m = ARGV[i], msg_key(place_of(c), ARGV[i])
  local at = redis.call('RPUSH', log_key(turn), 'thread ' .. ts .. '\n' .. ARGV[i + 2]) - 1
  if redis.call('EXISTS', m) == 0 then
    redis.call('HSET', m, 'v', 1, 'state', 'passive', 'conv', c, 'author', ARGV[i + 1], 'first', 'p',
      'turn', turn, 'as', 'thread', 'at', at)
    redis.call('PEXPIRE', m, MESSAGE_LIFE)
  end
end
queue_parts(c, {unpack(ARGV, parts, entries - 1)}, nil, now_ms())
for i = entries, #ARGV do redis.call('RPUSH', log_key(turn), 'entry\n' .. ARGV[i]) end
if string.find(flags, 'a', 1, true) then carry(turn) end
local from, to, unchecked = 0, 0, {}
if string.find(flags, 't', 1, true) and not t[3] then
  local allowed = {}
  for a in string.gmatch(ARGV[7], '[^,]+') do allowed[a] = true end
  from, to, unchecked = take_steers(c, turn, t[1], allowed)
end
local names = table.concat(unchecked, ',')
redis.call('HSET', turn_key(turn), 'commits', n, 'c_from', from, 'c_to', to, 'c_unchecked', names)
if #ARGV > 9 or to > from then redis.call('HSET', turn_key(turn), 'progress', 1) end -- a look is none
redis.call('HDEL', turn_key(turn), 'fresh')
return answer(from, to, names)
