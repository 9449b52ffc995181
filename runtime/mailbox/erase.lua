-- erase: what a conversation holds of a person is taken out, piece by piece; what
-- it was, whose and where, keeps its place. A piece that is not what the caller
-- has read is left alone: whoever reads again finds it. So any number of calls,
-- also of several at a time, come to the same end.
-- KEYS: the conversation, the index; or, of set-aside records, their list.
-- ARGV: 2 conversation ('' when there is none), 3 the person, 4.. pieces of five
--   each, and '' where a kind has fewer:
--   m, ts                      his message: it leaves its lane and is blanked where it stands
--   b, ts, sum, new            the body of somebody else's message, with that SHA-1
--   l, turn, n, sum, new       the nth item of a log
--   h, ts, sum                 an item of what was said in the thread
--   r, ts, sum, new            the same, of somebody else's
--   o, id, sum                 a part of the outbox
--   t, turn                    the opaque fields of an ended turn of his
--   k, key                     a task
--   d, item                    a record that was set aside
--   e                          that something is taken out now: see person_log.go
-- Returns the numbers of the pieces that are part of an open turn of his, and stay.
local c, who, stay = ARGV[2], ARGV[3], {}
local now = now_ms()
local function same(text, sum) return text and redis.sha1hex(text) == sum end
local function open_own(turn)
  local t = redis.call('HMGET', turn_key(turn), 'actor', 'state')
  return t[1] == who and (t[2] == 'running' or t[2] == 'parked' or t[2] == 'queued')
end

local function message(ts)
  local m = msg_key(place_of(c), ts)
  local h = redis.call('HMGET', m, 'state', 'turn', 'author')
  if h[3] and h[3] ~= who then return true end
  if (h[1] == 'taken' or h[1] == 'steer') and not h[2] then -- a broken record
    redis.call('HSET', m, 'state', 'withdrawn')
    redis.call('HDEL', m, 'body')
    return true
  end
  local place, f = standing(c, ts)
  f.author = f.author or who
  if f.turn and open_own(f.turn) then return false end
  if place == 2 then
    leave_lane(c, ts, f)
  else
    -- What its turn does not carry must not come back as a follow-up.
    if f.turn and redis.call('EXISTS', turn_key(f.turn)) == 1 then
      redis.call('HDEL', turn_key(f.turn), 'u:' .. ts, 'k:' .. ts)
      blank(ts, f)
    end
    if f.state == 'passive' or f.state == 'settled' then thread_remove(c, ts) end
    if f.state == 'passive' or f.state == 'taken' then redis.call('HSET', m, 'state', 'deleted') end
  end
  -- One that was handed back stands in the log that it was read in, too.
  local read = redis.call('HMGET', m, 'handed_turn', 'handed_at')
  if read[1] then blank(ts, {turn = read[1], at = read[2], author = f.author}) end
  redis.call('HDEL', m, 'body')
  return true
end

-- An item of what was said in the thread, by the ts that it begins with.
local function of_thread(ts, sum, new)
  for i, item in ipairs(redis.call('LRANGE', thread_key(c), 0, -1)) do
    if string.sub(item, 1, #ts + 1) == ts .. '\n' and same(item, sum) then
      if new then redis.call('LSET', thread_key(c), i - 1, new) else redis.call('LREM', thread_key(c), 1, item) end
    end
  end
end

local function part(id, sum)
  for _, item in ipairs(redis.call('LRANGE', out_key(c), 0, -1)) do
    if string.sub(item, 1, #id + 1) == id .. '\n' and same(item, sum) then
      redis.call('LREM', out_key(c), 1, item)
      redis.call('ZREM', UNSENT, c .. '|' .. id)
      delivered(c, string.match(id, '^[^/]*'), now)
    end
  end
  local sender = tonumber(redis.call('HGET', conv_key(c), 's_until') or 0)
  if redis.call('LLEN', out_key(c)) == 0 and sender <= now then redis.call('ZREM', INDEX, 's|' .. c) end
end

for i = 4, #ARGV, 5 do
  local op, a, b, sum, new = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local gone = true
  if op == 'm' then
    gone = message(a)
  elseif op == 'b' then
    local m = msg_key(place_of(c), a)
    if same(redis.call('HGET', m, 'body'), b) then redis.call('HSET', m, 'body', sum) end
  elseif op == 'l' then
    gone = not open_own(a)
    if gone and same(redis.call('LINDEX', log_key(a), b), sum) then redis.call('LSET', log_key(a), b, new) end
  elseif op == 'h' then
    of_thread(a, b)
  elseif op == 'r' then
    of_thread(a, b, sum)
  elseif op == 'o' then
    part(a, b)
  elseif op == 't' then
    gone = not open_own(a)
    if gone then redis.call('HDEL', turn_key(a), 'setup', 'wait', 'ended', 'void') end
  elseif op == 'k' then
    drop_task(c, a)
  elseif op == 'e' then
    if redis.call('EXISTS', conv_key(c)) == 1 then redis.call('HSET', conv_key(c), 'e:' .. who, now) end
  elseif op == 'd' then
    redis.call('LREM', DEAD, 1, a)
  end
  if not gone then stay[#stay + 1] = (i - 4) / 5 end
end
if c ~= '' then rest(c) end
return stay
