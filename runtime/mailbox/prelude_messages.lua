-- Messages: where they wait, how they are taken into a log and taken back.

-- The messages that wait, and how a message keeps its key: for good while it
-- waits somewhere, and as long as Slack may deliver it again from then on.
local function wait_add(c, member, now)
  redis.call('ZADD', wait_key(c), 0, member)
  redis.call('ZADD', WAITING, 'NX', now, c .. '|' .. member)
end
local function wait_drop(c, member)
  redis.call('ZREM', wait_key(c), member)
  redis.call('ZREM', WAITING, c .. '|' .. member)
end
local function withdrawn(c, ts)
  local m = msg_key(place_of(c), ts)
  redis.call('HSET', m, 'state', 'withdrawn')
  redis.call('PEXPIRE', m, MESSAGE_LIFE)
end

-- Makes a message wait for a turn of its own author, at its place by ts.
local function follow_up(c, ts, author, now)
  wait_add(c, lane_member(ts, author), now)
  local m = msg_key(place_of(c), ts)
  redis.call('HSET', m, 'state', 'waiting')
  redis.call('HDEL', m, 'turn', 'as', 'at')
  redis.call('PERSIST', m)
end

-- A body is read before a step writes anything: a record that cannot be read
-- must not leave half a step.
local function body_of(c, ts) return redis.call('HGET', msg_key(place_of(c), ts), 'body') or '' end

-- Moves one message of a lane into a turn's log, once. The log says how it was
-- taken, and which and whose it is; the body stays as Go wrote it.
local function take(c, turn, ts, author, taken, body)
  local m = msg_key(place_of(c), ts)
  local n = redis.call('RPUSH', log_key(turn), taken .. ' ' .. ts .. ' ' .. author .. '\n' .. body)
  redis.call('HSET', m, 'state', 'taken', 'turn', turn, 'as', taken, 'at', n - 1)
  redis.call('PEXPIRE', m, MESSAGE_LIFE)
  return n - 1
end

-- Takes a message out of the thread's passive ones: an addressed copy of it has
-- come, so that it is a request or a steer, and shown once.
local function thread_remove(c, ts)
  for _, item in ipairs(redis.call('LRANGE', thread_key(c), 0, -1)) do
    if string.sub(item, 1, #ts + 1) == ts .. '\n' then redis.call('LREM', thread_key(c), 1, item) end
  end
end

-- Moves what was said in the thread before a new turn's first message into its
-- log: each such message stands in one log, that of the first turn it is shown to.
local function take_thread(c, turn, before)
  local items = redis.call('LRANGE', thread_key(c), 0, -1)
  if #items == 0 then return end
  local stay = {}
  for _, item in ipairs(items) do
    local at = string.find(item, '\n', 1, true)
    local ts = string.sub(item, 1, at - 1)
    if ts < before then
      local n = redis.call('RPUSH', log_key(turn), 'thread ' .. item)
      local m = msg_key(place_of(c), ts)
      if redis.call('EXISTS', m) == 1 then redis.pcall('HSET', m, 'turn', turn, 'as', 'thread', 'at', n - 1) end
    else
      stay[#stay + 1] = item
    end
  end
  redis.call('DEL', thread_key(c))
  for _, item in ipairs(stay) do redis.call('RPUSH', thread_key(c), item) end
end

-- Where a message stands, as runtime.Place numbers it (0 unknown, 1 passive,
-- 2 waiting, 3 began an open turn, 4 read by its author's, 5 read by another's,
-- 6 ended), and its fields.
local function standing(c, ts)
  local h = redis.call('HMGET', msg_key(place_of(c), ts), 'state', 'turn', 'as', 'at', 'author', 'conv',
    'corrected', 'edit', 'edit_as', 'removed')
  local f = {state = h[1], turn = h[2], as = h[3], at = h[4], author = h[5], conv = h[6],
    corrected = h[7], edit = h[8], edit_as = h[9], removed = h[10]}
  if not f.state then return 0, f end
  if f.state == 'passive' then return 1, f end
  if f.state == 'waiting' or f.state == 'steer' then return 2, f end
  if f.state == 'taken' then
    local state = redis.call('HGET', turn_key(f.turn), 'state')
    if state == 'running' or state == 'parked' or state == 'queued' then
      if f.as == 'request' then return 3, f end
      return f.as == 'steer' and 4 or 5, f
    end
  end
  return 6, f
end

-- Takes an unread message (see standing) back from where it waits.
local function leave_lane(c, ts, f)
  local member = lane_member(ts, f.author)
  if f.state == 'steer' then redis.call('ZREM', steer_key(f.turn), member) else wait_drop(c, member) end
  withdrawn(c, ts)
  rest(c)
end

-- Takes a message's text out of the log that it stands in: what is left says
-- whose it was and how it was taken.
local function blank(ts, f)
  if not f.turn or not f.at then return end
  local item = redis.call('LINDEX', log_key(f.turn), f.at)
  local taken, of = string.match(item or '', '^(%S+) ([^%s]+)')
  if of ~= ts or taken == 'deleted' or taken == 'aside' then return end
  redis.call('LSET', log_key(f.turn), f.at, 'deleted ' .. ts .. ' ' .. (f.author or '') .. '\n' .. taken)
end
