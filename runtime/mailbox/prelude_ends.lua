-- What a turn takes in while it runs, and how it ends.

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
    if string.sub(fields[i], 1, 2) == mark .. ':' then
      list[#list + 1] = {string.sub(fields[i], 3), fields[i + 1]}
    end
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
  if t[4] ~= 'running' then
    local how = outcome == 'stopped' and 'stopped' or 'abandoned'
    wait_over(turn, how, t[2] or '', now)
    void(c, turn, how, now)
  end
  local closing = redis.call('HINCRBY', conv_key(c), 'closings', 1)
  redis.call('HSET', turn_key(turn), 'state', outcome, 'token', '', 'closed', now, 'number', closing)
  redis.call('HDEL', turn_key(turn), 'fresh', 'void')
  redis.call('ZADD', closed_key(c), closing, turn)
  if redis.call('HGET', conv_key(c), 'run') == turn then redis.call('HDEL', conv_key(c), 'run') end
  if t[4] ~= 'running' then
    if t[1] and redis.call('HGET', conv_key(c), 'p:' .. t[1]) == turn then
      redis.call('HDEL', conv_key(c), 'p:' .. t[1])
    end
    redis.call('LREM', ready_key(c), 0, turn)
    redis.call('ZREM', INDEX, 'w|' .. c .. '|' .. turn)
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
