-- Shared by every script: it stands in front of each of them. Payloads (bodies,
-- entries, parts, setups) are opaque strings; decisions read hash fields alone.
-- ARGV[1] is the shard's key prefix; every key below lies in that shard.
local P = ARGV[1]
local CHANNELS = string.match(P, '^(.*){') -- pub/sub knows no shards
local function conv_key(c) return P .. 'conv:' .. c end
local function wait_key(c) return P .. 'wait:' .. c end
local function ready_key(c) return P .. 'ready:' .. c end
local function closed_key(c) return P .. 'closed:' .. c end
local function thread_key(c) return P .. 'thread:' .. c end
local function out_key(c) return P .. 'out:' .. c end
local function turn_key(t) return P .. 'turn:' .. t end
local function log_key(t) return P .. 'log:' .. t end
local function steer_key(t) return P .. 'steer:' .. t end
local function msg_key(team_channel, ts) return P .. 'msg:' .. team_channel .. ':' .. ts end
local function dm_key(team_channel) return P .. 'dm:' .. team_channel end
local INDEX = P .. 'leases'

-- What there is in the shard and since when, in members 'CONVERSATION|WHAT':
-- waiting messages (and turns that wait for a worker), running and parked
-- turns, unsent parts, and the newest ended turns. Derived: see mend.lua.
local WAITING, RUNNING, PARKED = P .. 'waiting', P .. 'running', P .. 'parked'
local UNSENT, ENDED, DEAD = P .. 'unsent', P .. 'ended', P .. 'dead'

local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- A lane's member is 'TS AUTHOR': all ts have one form, so members sort by time.
local function lane_member(ts, author) return ts .. ' ' .. author end
local function lane_split(member)
  local at = string.find(member, ' ', 1, true)
  return string.sub(member, 1, at - 1), string.sub(member, at + 1)
end

-- TEAM:CHANNEL of a conversation key TEAM:CHANNEL:ROOT.
local function place_of(c) return string.match(c, '^([^:]+:[^:]+):') end

-- Takes a record out of the way: it cannot be processed, and stands in the dead
-- list with the reason. The first line of an item says where it was.
local function set_aside(c, turn, what, reason, record, now)
  local id = string.match(P, '{(.*)}') .. '-' .. redis.call('INCR', P .. 'dead_last')
  local head = table.concat({id, now, what, c, turn, (string.gsub(reason, '[%c|]', ' '))}, '|')
  redis.call('RPUSH', DEAD, head .. '\n' .. string.sub(record, 1, 65536))
  redis.call('LTRIM', DEAD, -1000, -1)
  if RETENTION > 0 then redis.call('PEXPIRE', DEAD, RETENTION) end
end

-- Nothing live expires. What is at rest does, a while after it was touched.
local function rest(c)
  if RETENTION == 0 then return end
  local live = redis.call('HEXISTS', conv_key(c), 'run') == 1 or redis.call('ZCARD', wait_key(c)) > 0
    or redis.call('LLEN', ready_key(c)) > 0 or redis.call('LLEN', out_key(c)) > 0
  if not live then
    for _, field in ipairs(redis.call('HKEYS', conv_key(c))) do
      live = live or string.sub(field, 1, 2) == 'p:'
    end
  end
  local keys = {conv_key(c), closed_key(c), thread_key(c)}
  if string.find(c, ':D', 1, true) and redis.call('GET', dm_key(place_of(c))) == c then
    keys[4] = dm_key(place_of(c))
  end
  for _, key in ipairs(keys) do
    if live then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, RETENTION) end
  end
end

-- Work for any replica with room: it stands in the index, due at once, but
-- behind all leases, so that no backlog of it hides the end of one.
local OFFERED = 1e13
local function offer(c, now)
  redis.call('ZADD', INDEX, OFFERED + now, 'q|' .. c)
  redis.call('PUBLISH', CHANNELS .. 'work', c)
end

local function signal(owner, what, turn)
  redis.call('PUBLISH', CHANNELS .. 'owner:' .. owner, what .. ' ' .. turn)
end

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

-- A parked turn's wait has ended: it waits for a worker.
local function queue(c, turn, how, now)
  redis.call('HSET', turn_key(turn), 'state', 'queued', 'ended', how)
  redis.call('RPUSH', ready_key(c), turn)
  redis.call('ZREM', PARKED, c .. '|' .. turn)
  redis.call('ZADD', WAITING, now, c .. '|' .. turn)
end

-- A claimer: {owner, nonce, ttl, turn, setup, claims ('1' when it has room)}.
local function lease(c, turn, by, now)
  local fence = redis.call('HINCRBY', conv_key(c), 'fence', 1)
  local token = fence .. '-' .. by.nonce
  redis.call('HSET', conv_key(c), 'run', turn)
  redis.call('HSET', turn_key(turn), 'state', 'running', 'token', token, 'owner', by.owner,
    'until', now + by.ttl, 'claimed', now, 'progress', 0, 'run:' .. fence, now .. ' ' .. by.owner)
  redis.call('HDEL', turn_key(turn), 'handed')
  redis.call('ZREM', INDEX, 'q|' .. c)
  redis.call('ZADD', INDEX, now + by.ttl, 't|' .. c .. '|' .. turn)
  redis.call('ZADD', RUNNING, 'NX', now, c .. '|' .. turn)
  return token
end

-- What a claimer is told of its turn: see Claimed in mailbox.go.
local function claimed(c, turn)
  local t = redis.call('HMGET', turn_key(turn), 'actor', 'token', 'attempts', 'setup', 'history',
    'ran', 'commits', 'stop_by', 'stop_ts', 'fresh')
  for i = 1, 10 do t[i] = t[i] or '' end
  return {c, turn, t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10],
    redis.call('LRANGE', log_key(turn), 0, -1), redis.call('ZCARD', steer_key(turn))}
end

-- The claim that a call with this nonce made before its answer was lost.
local function claimed_before(c, nonce)
  local run = redis.call('HGET', conv_key(c), 'run')
  if not run then return false end
  local t = redis.call('HMGET', turn_key(run), 'state', 'token')
  if t[1] ~= 'running' or string.sub(t[2] or '', -#nonce) ~= nonce then return false end
  return claimed(c, run)
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

-- A new turn of an author's batch ({ts, member, body} each), out of the lane already.
local function begin(c, by, author, batch, now)
  redis.call('HSET', turn_key(by.turn), 'v', 1, 'conv', c, 'actor', author, 'first', batch[1][1],
    'attempts', 1, 'commits', 0, 'ran', 0, 'born', now, 'setup', by.setup, 'fresh', 1,
    'history', redis.call('HGET', conv_key(c), 'closings') or 0)
  take_thread(c, by.turn, batch[1][1])
  for _, b in ipairs(batch) do take(c, by.turn, b[1], author, 'request', b[3]) end
end

-- Starts or resumes the conversation's next turn for the claimer, if none runs:
-- first those whose wait has ended, then the contiguous batch at the head of
-- the waiting messages. Without room the conversation is offered to others.
-- What nobody has touched for long (a restored backup, say) is not gone on with
-- by itself, unless going on is what the conversation does right now: then
-- held_back is {turn or '', actor}, and claim.lua parks it.
local held_back
local function untouched(since, now)
  return UNTOUCHED > 0 and since and now - since > UNTOUCHED
end
local function claim_next(c, by, now, going)
  if redis.call('HEXISTS', conv_key(c), 'run') == 1 then return false end
  local waits = redis.call('ZCARD', wait_key(c)) > 0
  if not waits and redis.call('LLEN', ready_key(c)) == 0 then
    redis.call('ZREM', INDEX, 'q|' .. c)
    return false
  end
  -- A turn begins once: a call that comes a second time, and so late that its
  -- turn is not its own any more, has nobody who listens.
  if by.claims ~= '1' or redis.call('EXISTS', turn_key(by.turn)) == 1 then
    offer(c, now)
    return false
  end
  local ready = redis.call('LINDEX', ready_key(c), 0)
  if ready and not going and untouched(redis.call('ZSCORE', WAITING, c .. '|' .. ready), now) then
    held_back = {ready, redis.call('HGET', turn_key(ready), 'actor')}
    offer(c, now)
    return false
  end
  redis.call('ZREM', INDEX, 'q|' .. c)
  if ready then
    redis.call('LPOP', ready_key(c))
    redis.call('ZREM', WAITING, c .. '|' .. ready)
    local actor, version = unpack(redis.call('HMGET', turn_key(ready), 'actor', 'v'))
    if version ~= '1' then error('a turn of another version') end
    redis.call('HDEL', conv_key(c), 'p:' .. actor)
    redis.call('HSET', turn_key(ready), 'attempts', 1)
    lease(c, ready, by, now)
    return claimed(c, ready)
  end
  local batch, author = {}, nil
  for _, member in ipairs(redis.call('ZRANGE', wait_key(c), 0, -1)) do
    local ts, a = lane_split(member)
    if author and a ~= author then break end
    author = a
    batch[#batch + 1] = {ts, member, body_of(c, ts)}
  end
  local parked = redis.call('HGET', conv_key(c), 'p:' .. author)
  local newest = redis.call('ZSCORE', WAITING, c .. '|' .. batch[#batch][2])
  if not parked and not going and untouched(newest, now) then
    held_back = {'', author, batch}
    offer(c, now)
    return false
  end
  for _, b in ipairs(batch) do wait_drop(c, b[2]) end
  if parked then
    for _, b in ipairs(batch) do
      redis.call('ZADD', steer_key(parked), 0, b[2])
      redis.call('HSET', msg_key(place_of(c), b[1]), 'state', 'steer', 'turn', parked)
    end
    return claim_next(c, by, now, going)
  end
  begin(c, by, author, batch, now)
  lease(c, by.turn, by, now)
  return claimed(c, by.turn)
end

-- Whether a write under this token is still allowed: the turn runs, and no
-- other claim has taken the token over.
local function holds(turn, token)
  local t = redis.call('HMGET', turn_key(turn), 'state', 'token')
  return t[1] == 'running' and t[2] == token
end

-- Queues parts ('ID\nPAYLOAD') and takes the sender's lease for this process
-- when it is free. Returns the sender's token ('' when another holds it) and
-- whether an earlier sender may have posted already. Without by, which is a
-- process that can send, the outbox is left to any.
local function queue_parts(c, parts, by, now)
  if #parts == 0 then return {'', 0} end
  local had = redis.call('LLEN', out_key(c))
  for _, part in ipairs(parts) do
    redis.call('RPUSH', out_key(c), part)
    redis.call('ZADD', UNSENT, 'NX', now, c .. '|' .. string.match(part, '^[^\n]*'))
  end
  local s = redis.call('HMGET', conv_key(c), 's_until')
  if s[1] and tonumber(s[1]) > now then return {'', 0} end
  if not by then
    redis.call('ZADD', INDEX, now, 's|' .. c)
    redis.call('PUBLISH', CHANNELS .. 'work', c)
    return {'', 0}
  end
  local fence = redis.call('HINCRBY', conv_key(c), 'fence', 1)
  local token = fence .. '-' .. by.nonce
  redis.call('HSET', conv_key(c), 's_tok', token, 's_until', now + by.ttl)
  redis.call('ZADD', INDEX, now + by.ttl, 's|' .. c)
  return {token, had > 0 and 1 or 0}
end

-- Takes the steers that wait for a running turn into its log. A message whose
-- author is not checked yet is left and named, unless he is in allowed; so are
-- his later ones, which may not overtake it.
local function take_steers(c, turn, actor, allowed)
  local unchecked, left, taken, from = {}, {}, {}, redis.call('LLEN', log_key(turn))
  for _, member in ipairs(redis.call('ZRANGE', steer_key(turn), 0, -1)) do
    local ts, author = lane_split(member)
    local m = msg_key(place_of(c), ts)
    if left[author] or redis.call('HEXISTS', m, 'unchecked') == 1 and not allowed[author] then
      left[author] = true
      unchecked[#unchecked + 1] = member
    else
      taken[#taken + 1] = {member, ts, author, body_of(c, ts)}
    end
  end
  for _, s in ipairs(taken) do
    local at = take(c, turn, s[2], s[3], s[3] == actor and 'steer' or 'steer_context', s[4])
    redis.call('ZREM', steer_key(turn), s[1])
    redis.call('HSET', turn_key(turn), 'u:' .. s[2], at)
  end
  return from, redis.call('LLEN', log_key(turn)), unchecked
end

-- Steers that the turn took, by what follows them: 'u' no model answer, 'k' only
-- answers that call tools. {ts, log index} each.
local function taken_steers(turn, mark)
  local list, fields = {}, redis.call('HGETALL', turn_key(turn))
  for i = 1, #fields, 2 do
    local ts = string.match(fields[i], '^' .. mark .. ':(.+)$')
    if ts then list[#list + 1] = {ts, fields[i + 1]} end
  end
  return list
end

-- A model answer follows what was taken. A posted one has answered it.
local function carry(turn, posted)
  for _, u in ipairs(taken_steers(turn, 'u')) do
    redis.call('HDEL', turn_key(turn), 'u:' .. u[1])
    redis.call('HSET', turn_key(turn), 'k:' .. u[1], u[2])
  end
  if not posted then return end
  for _, k in ipairs(taken_steers(turn, 'k')) do redis.call('HDEL', turn_key(turn), 'k:' .. k[1]) end
end

-- Makes a message wait for a turn of its own author, at its place by ts.
local function follow_up(c, ts, author, now)
  wait_add(c, lane_member(ts, author), now)
  local m = msg_key(place_of(c), ts)
  redis.call('HSET', m, 'state', 'waiting')
  redis.call('HDEL', m, 'turn', 'as', 'at')
  redis.call('PERSIST', m)
end

-- Ends a turn, whoever held it. What it did not read or carry goes on as its
-- author's follow-up, and so does what it did not answer and is newer than a
-- stop. A stop covers its author's older messages, and the actor's own to this
-- turn, however the turn came to end. Returns how many became follow-ups, and
-- the ts of those that it took back unread.
local function finish(c, turn, outcome, now)
  local t = redis.call('HMGET', turn_key(turn), 'actor', 'stop_by', 'stop_ts', 'state')
  local followed, took_back = 0, {}
  local function covered(ts, author)
    return t[3] and ts < t[3] and (author == t[1] or author == t[2])
  end
  for _, member in ipairs(redis.call('ZRANGE', steer_key(turn), 0, -1)) do
    local ts, author = lane_split(member)
    if covered(ts, author) then
      withdrawn(c, ts)
      took_back[#took_back + 1] = ts
    else
      follow_up(c, ts, author, now)
      followed = followed + 1
    end
  end
  redis.call('DEL', steer_key(turn))
  local unanswered = taken_steers(turn, 'u')
  for _, k in ipairs(t[3] and taken_steers(turn, 'k') or {}) do
    if k[1] > t[3] then unanswered[#unanswered + 1] = k end
  end
  for _, u in ipairs(unanswered) do
    local m = msg_key(place_of(c), u[1])
    local author = redis.call('HGET', m, 'author')
    if author and outcome ~= 'done' and not covered(u[1], author) then
      redis.pcall('LSET', log_key(turn), u[2], 'struck ' .. u[1] .. ' ' .. author .. '\n' .. (redis.call('HGET', m, 'body') or ''))
      follow_up(c, u[1], author, now)
      followed = followed + 1
    end
  end
  local closing = redis.call('HINCRBY', conv_key(c), 'closings', 1)
  redis.call('HSET', turn_key(turn), 'state', outcome, 'token', '', 'closed', now, 'number', closing)
  redis.call('HDEL', turn_key(turn), 'fresh')
  redis.call('ZADD', closed_key(c), closing, turn)
  if redis.call('HGET', conv_key(c), 'run') == turn then redis.call('HDEL', conv_key(c), 'run') end
  if t[4] ~= 'running' then
    if t[1] and redis.call('HGET', conv_key(c), 'p:' .. t[1]) == turn then
      redis.call('HDEL', conv_key(c), 'p:' .. t[1])
    end
    redis.call('LREM', ready_key(c), 0, turn)
    redis.call('ZREM', PARKED, c .. '|' .. turn)
    redis.call('ZREM', WAITING, c .. '|' .. turn)
  end
  redis.call('ZREM', INDEX, 't|' .. c .. '|' .. turn)
  redis.call('ZREM', RUNNING, c .. '|' .. turn)
  redis.call('ZADD', ENDED, now, c .. '|' .. turn)
  redis.call('ZREMRANGEBYRANK', ENDED, 0, -1001)
  if RETENTION > 0 then
    redis.call('PEXPIRE', turn_key(turn), RETENTION)
    redis.call('PEXPIRE', log_key(turn), RETENTION)
    for _, old in ipairs(redis.call('ZRANGE', closed_key(c), 0, 1)) do
      if redis.call('EXISTS', turn_key(old)) == 0 then redis.call('ZREM', closed_key(c), old) end
    end
  end
  return followed, took_back
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

-- Stops an open turn: who did it, and when, stands with it. A running one is
-- told. One that is parked, or whose wait has ended, has no worker, and must not
-- wait for another's turn to get one: it ends here, and any process posts so.
-- Returns what was claimed then, and the ts of what it took back.
local function stop_turn(c, turn, author, ts, by, now)
  local t = redis.call('HMGET', turn_key(turn), 'stop_by', 'stop_ts', 'state', 'owner')
  if not t[1] or t[1] == author and t[2] < ts then
    redis.call('HSET', turn_key(turn), 'stop_by', author, 'stop_ts', ts)
  end
  if t[3] == 'running' then signal(t[4], 'stop', turn) end
  if t[3] ~= 'parked' and t[3] ~= 'queued' then return false, {} end
  local channel, root = string.match(c, ':([^:]+):([^:]+)$')
  local text = author == DELETION and DELETED_TEXT or STOPPED_TEXT
  local of = {turn = turn, channel = channel, root = root, text = text}
  redis.call('RPUSH', log_key(turn), 'entry\n' .. string.gsub(STOPPED_ENTRY, '@(%a+)', of))
  queue_parts(c, {turn .. '/s\n' .. string.gsub(STOPPED_PART, '@(%a+)', of)}, nil, now)
  local _, took_back = finish(c, turn, 'stopped', now)
  return claim_next(c, by, now), took_back
end
