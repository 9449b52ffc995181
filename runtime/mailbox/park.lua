-- park: the turn waits for something outside and holds nobody; the next one is
-- claimed or offered. The wait is named by the commit that began it, which no
-- other wait of the turn is.
-- KEYS: the turn, its log, the conversation, the outbox, the index.
-- ARGV: 2 conversation, 3 turn, 4 token, 5 commit number, 6 what it waits for
--   (opaque), 7 owner, 8 nonce, 9 ttl (ms), 10 next turn id, 11 setup,
--   12 claims, 13 for how long it waits at most (ms; 0: for good), 14 the id of
--   the part that asks ('' for none), 15 the part that says that nobody can answer
--   any more ('' for none; see void in prelude_waits.lua), 16 the kind of the wait,
--   17 authors by comma whose steers it does not wait for: they become follow-ups,
--   18 number of entries, 19.. entries, then parts ('ID\nPAYLOAD')
-- Returns {} when the token is stale; {'stopping', by, ts}; {'open', 1 when one may
--   be read, unchecked lane members by comma} when a steer waits, which is to be
--   read first; or {'parked', next claim or false, sender token, look}.
local c, turn, token, n = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local by = {owner = ARGV[7], nonce = ARGV[8], ttl = tonumber(ARGV[9]), turn = ARGV[10],
  setup = ARGV[11], claims = ARGV[12]}
local now = now_ms()
local t = redis.call('HMGET', turn_key(turn), 'state', 'token', 'actor', 'stop_by', 'stop_ts', 'ran', 'claimed', 'parked',
  'c_sender', 'c_look')
if t[8] == token then return {'parked', claimed_before(c, by.nonce), t[9] or '', tonumber(t[10] or 0)} end
if not holds(turn, token) then return {} end
if t[5] then return {'stopping', t[4], t[5]} end
local leave, steers = {}, redis.call('ZRANGE', steer_key(turn), 0, -1)
for a in string.gmatch(ARGV[17], '[^,]+') do leave[a] = true end
local may, unchecked, of = 0, {}, {}
for _, member in ipairs(steers) do
  local ts, author = lane_split(member)
  if of[author] or not leave[author] and redis.call('HEXISTS', msg_key(place_of(c), ts), 'unchecked') == 1 then
    of[author] = true -- his later ones may not overtake it
    unchecked[#unchecked + 1] = member
  elseif not leave[author] then
    may = 1
  end
end
if may == 1 or #unchecked > 0 then return {'open', may, table.concat(unchecked, ',')} end
for _, member in ipairs(steers) do
  local ts, author = lane_split(member)
  follow_up(c, ts, author, now)
end
redis.call('DEL', steer_key(turn))
local entries, parts = tonumber(ARGV[18]), {}
for i = 19, 18 + entries do redis.call('RPUSH', log_key(turn), 'entry\n' .. ARGV[i]) end
for i = 19 + entries, #ARGV do parts[#parts + 1] = ARGV[i] end
local sender = queue_parts(c, parts, by, now)
carry(turn)
redis.call('HSET', turn_key(turn), 'state', 'parked', 'parked', token, 'token', '', 'wait', ARGV[6],
  'wait_id', n, 'commits', n, 'ran', tonumber(t[6]) + now - tonumber(t[7]), 'c_sender', sender[1], 'c_look', sender[2],
  'wait:' .. n, ARGV[16] .. ' ' .. now, 'card_wait', n)
redis.call('HDEL', turn_key(turn), 'fresh', 'ended', 'card', 'void')
if ARGV[14] ~= '' then redis.call('HSET', turn_key(turn), 'card', ARGV[14]) end
if ARGV[15] ~= '' then redis.call('HSET', turn_key(turn), 'void', ARGV[15]) end
redis.call('HSET', conv_key(c), 'p:' .. t[3], turn)
redis.call('HDEL', conv_key(c), 'run')
redis.call('ZREM', INDEX, 't|' .. c .. '|' .. turn)
redis.call('ZREM', RUNNING, c .. '|' .. turn)
redis.call('ZADD', PARKED, now, c .. '|' .. turn)
if tonumber(ARGV[13]) > 0 then
  redis.call('HSET', turn_key(turn), 'wait_until', now + tonumber(ARGV[13]))
  due_wait(c, turn, now + tonumber(ARGV[13]))
end
return {'parked', claim_next(c, by, now, true), sender[1], sender[2]}
