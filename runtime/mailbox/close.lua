-- close: the way out of running. Entries, parts, cursor and state change
-- together, the token is replaced, and the next turn of the conversation is
-- claimed or offered. A turn does not become done while a steer waits: then
-- the entries and parts are kept, the steers are taken, and it stays open.
-- KEYS: the turn, its log, the conversation, the outbox, the index.
-- ARGV: 2 conversation, 3 turn, 4 token, 5 commit number, 6 outcome (done,
--   failed, stopped, withdrawn, abandoned), 7 allowed authors by comma,
--   8 owner, 9 nonce, 10 ttl (ms), 11 next turn id, 12 setup, 13 claims,
--   14 tasks that the end of the turn is to be followed by, as PLUGIN/TASK by comma,
--   15 number of entries, 16.. entries, then parts ('ID\nPAYLOAD')
-- Returns {} when the token is stale; {'stopping', by, ts} when a stop came
--   before done (nothing was written); {'open', sender token, look, unchecked,
--   items taken...}; or {'closed', sender token, look, next claim or false,
--   steers that became follow-ups, ts of those that a stop took back...}.
local c, turn, token, n, outcome = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
local by = {owner = ARGV[8], nonce = ARGV[9], ttl = tonumber(ARGV[10]), turn = ARGV[11],
  setup = ARGV[12], claims = ARGV[13]}
local now = now_ms()
local t = redis.call('HMGET', turn_key(turn), 'state', 'token', 'actor', 'owner', 'stop_by', 'stop_ts',
  'commits', 'ran', 'claimed', 'closing', 'c_from', 'c_to', 'c_unchecked', 'c_sender', 'c_look')
local function open(from, to, unchecked, sender, look)
  local out = {'open', sender, look, unchecked}
  if to > from then
    for _, item in ipairs(redis.call('LRANGE', log_key(turn), from, to - 1)) do out[#out + 1] = item end
  end
  return out
end
if t[10] == token then
  -- Closed by this very call before its answer was lost.
  local again = {'closed', t[14] or '', tonumber(t[15] or 0), claimed_before(c, by.nonce), 0}
  for ts in string.gmatch(redis.call('HGET', turn_key(turn), 'withdrew') or '', '[^,]+') do again[#again + 1] = ts end
  return again
end
if t[1] ~= 'running' or t[2] ~= token then return {} end
if outcome == 'done' and n <= tonumber(t[7]) then
  return open(tonumber(t[11] or 0), tonumber(t[12] or 0), t[13] or '', t[14] or '', tonumber(t[15] or 0))
end
if outcome == 'done' and t[6] then return {'stopping', t[5], t[6]} end

local entries, parts = tonumber(ARGV[15]), {}
for i = 16, 15 + entries do redis.call('RPUSH', log_key(turn), 'entry\n' .. ARGV[i]) end
for i = 16 + entries, #ARGV do parts[#parts + 1] = ARGV[i] end
local sender = queue_parts(c, parts, by, now)
if outcome == 'done' then carry(turn, true) end

if outcome == 'done' and redis.call('ZCARD', steer_key(turn)) > 0 then
  local allowed = {}
  for a in string.gmatch(ARGV[7], '[^,]+') do allowed[a] = true end
  local from, to, unchecked = take_steers(c, turn, t[3], allowed)
  local names = table.concat(unchecked, ',')
  redis.call('HSET', turn_key(turn), 'commits', n, 'c_from', from, 'c_to', to, 'c_unchecked', names,
    'c_sender', sender[1], 'c_look', sender[2])
  if entries > 0 or to > from then redis.call('HSET', turn_key(turn), 'progress', 1) end
  redis.call('HDEL', turn_key(turn), 'fresh')
  return open(from, to, names, sender[1], sender[2])
end

local followed, took_back = finish(c, turn, outcome, now)
schedule(c, turn, ARGV[14], now)
redis.call('HSET', turn_key(turn), 'closing', token, 'commits', n, 'ran', tonumber(t[8]) + now - tonumber(t[9]),
  'c_sender', sender[1], 'c_look', sender[2])
local next = claim_next(c, by, now, true)
rest(c)
local out = {'closed', sender[1], sender[2], next, followed}
if #took_back > 0 then redis.call('HSET', turn_key(turn), 'withdrew', table.concat(took_back, ',')) end
for _, ts in ipairs(took_back) do out[#out + 1] = ts end
return out
