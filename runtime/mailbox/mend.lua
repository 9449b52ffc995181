-- mend: a conversation's records are compared with each other. Derived state is
-- put right, one running turn goes on, what cannot be processed is set aside,
-- and a turn that cannot go on is abandoned, its actor told in this step. It
-- runs when a step has failed over a record, and in the sweep.
-- KEYS: the conversation, the index.
-- ARGV: 2 conversation, 3 a message that the failed step was about ('' for
--   none), 4 what the shard's lists say of the conversation, as LIST|WHAT, by
--   line, 5.. turn, part ('' when there is nobody to tell), for turns that an
--   earlier call named
-- Returns {turn, actor}... of turns to be abandoned whose part is wanted, each
--   followed by 'tell', and for all else that was done {'', what}.. 'done'.
local c, now = ARGV[2], now_ms()
local out = {}
local function done(what) out[#out + 1] = {'done', what, ''} end
local parts = {}
for i = 5, #ARGV, 2 do parts[ARGV[i]] = ARGV[i + 1] end

-- A key of a type that no script of ours makes cannot be read by any.
local function typed(key, want, turn)
  local is = redis.call('TYPE', key)
  is = is.ok or is
  if is == want or is == 'none' then return is == want end
  set_aside(c, turn or '', string.sub(key, #P + 1), 'a ' .. is .. ' stands where a ' .. want .. ' is meant',
    is == 'string' and redis.call('GET', key) or '', now)
  redis.call('DEL', key)
  done('set aside ' .. string.sub(key, #P + 1))
  return false
end
local function is_ts(s) return s and string.find(s, '^%d+%.%d+$') ~= nil end
local function is_actor(s) return s and string.find(s, '^[^:]+:[^:]+$') ~= nil end
local function lane_fine(key)
  local fine = {}
  for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    local at = string.find(member, ' ', 1, true)
    if at and is_ts(string.sub(member, 1, at - 1)) and is_actor(string.sub(member, at + 1)) then
      typed(msg_key(place_of(c), string.sub(member, 1, at - 1)), 'hash')
      fine[#fine + 1] = member
    else
      set_aside(c, '', string.sub(key, #P + 1), 'not the name of a message', member, now)
      redis.call('ZREM', key, member)
      redis.call('ZREM', WAITING, c .. '|' .. member)
      done('set aside a message of ' .. string.sub(key, #P + 1))
    end
  end
  return fine
end

typed(DEAD, 'list')
for _, key in ipairs({INDEX, WAITING, RUNNING, PARKED, UNSENT, ENDED, TASKS, P .. 'touched', wait_key(c), closed_key(c)}) do typed(key, 'zset') end
for _, key in ipairs({ready_key(c), thread_key(c), out_key(c)}) do typed(key, 'list') end
typed(conv_key(c), 'hash')
typed(dm_key(place_of(c)), 'string')
if ARGV[3] ~= '' then
  typed(msg_key(place_of(c), ARGV[3]), 'hash')
  typed(msg_key(place_of(c), string.sub(c, #place_of(c) + 2)), 'hash')
end

for _, item in ipairs(redis.call('LRANGE', thread_key(c), 0, -1)) do
  local ts = string.match(item, '^([^\n]*)\n')
  if is_ts(ts) then
    typed(msg_key(place_of(c), ts), 'hash')
  else
    set_aside(c, '', 'thread:' .. c, 'not a message', item, now)
    redis.call('LREM', thread_key(c), 1, item)
  end
end

-- Counters. A fence need not go on counting: its nonce tells tokens apart.
local v = redis.call('HMGET', conv_key(c), 'fence', 'closings', 's_until', 's_tok')
if v[1] and not tonumber(v[1]) then
  redis.call('HSET', conv_key(c), 'fence', 0)
  done('fence')
end
local last = redis.call('ZRANGE', closed_key(c), -1, -1, 'WITHSCORES')
if v[2] and not tonumber(v[2]) or not v[2] and last[2] then
  redis.call('HSET', conv_key(c), 'closings', last[2] or 0)
  done('closings')
end
if v[3] and (not tonumber(v[3]) or not v[4]) then
  redis.call('HDEL', conv_key(c), 's_until', 's_tok')
  done('sender')
end

-- Turns. why is nil for a turn that a worker can take up.
local terminal = {done = 1, failed = 1, stopped = 1, withdrawn = 1, abandoned = 1}
local function look(turn)
  local fine = typed(turn_key(turn), 'hash', turn)
  typed(log_key(turn), 'list', turn)
  if typed(steer_key(turn), 'zset', turn) then lane_fine(steer_key(turn)) end
  if not fine then
    -- Its log begins with a message of its actor's.
    local first = redis.call('LINDEX', log_key(turn), 0)
    local actor = first and string.match(first, '^request %S+ ([^\n]+)')
    if not is_actor(actor) then return nil, '', 'it is gone' end
    return 'lost', actor, 'its record is gone'
  end
  local t = redis.call('HMGET', turn_key(turn), 'state', 'actor', 'v', 'conv', 'first', 'until', 'attempts',
    'commits', 'ran', 'claimed', 'history')
  local why
  if t[3] ~= '1' then why = 'its version is ' .. (t[3] or 'missing')
  elseif not is_actor(t[2]) then why = 'it has no actor'
  elseif t[4] ~= c then why = 'it names another conversation'
  elseif not is_ts(t[5]) then why = 'it has no first message'
  else
    for i, name in ipairs({'until', 'attempts', 'commits', 'ran', 'claimed', 'history'}) do
      local missing = not t[5 + i] and not (t[1] == 'parked' and (name == 'until' or name == 'claimed'))
      if missing or t[5 + i] and not tonumber(t[5 + i]) then why = name .. ' is no number' end
    end
  end
  return t[1], is_actor(t[2]) and t[2] or '', why
end
local function forget(turn)
  for _, list in ipairs({RUNNING, PARKED, WAITING}) do redis.call('ZREM', list, c .. '|' .. turn) end
  redis.call('ZREM', INDEX, 't|' .. c .. '|' .. turn)
  redis.call('ZREM', INDEX, 'w|' .. c .. '|' .. turn)
  redis.call('LREM', ready_key(c), 0, turn)
end
local function abandon(turn, actor, why)
  if not parts[turn] then
    out[#out + 1] = {'tell', turn, actor}
    return
  end
  local record = {}
  for _, f in ipairs(redis.call('HGETALL', turn_key(turn))) do record[#record + 1] = f end
  if record[1] then set_aside(c, turn, 'turn:' .. turn, why, table.concat(record, '\n'), now) end
  local fields = redis.call('HKEYS', conv_key(c))
  redis.call('HSETNX', turn_key(turn), 'actor', actor)
  redis.call('HSETNX', turn_key(turn), 'conv', c)
  finish(c, turn, 'abandoned', now)
  for _, field in ipairs(fields) do
    if redis.call('HGET', conv_key(c), field) == turn then redis.call('HDEL', conv_key(c), field) end
  end
  forget(turn)
  if parts[turn] ~= '' then queue_parts(c, {parts[turn]}, nil, now) end
  done('abandoned ' .. turn .. ': ' .. why)
end

-- The running turn, and those that are parked.
local run = redis.call('HGET', conv_key(c), 'run')
if run then
  local state, actor, why = look(run)
  if state ~= 'running' and state ~= 'lost' then
    redis.call('HDEL', conv_key(c), 'run')
    if not state or terminal[state] then forget(run) end
    done('run named ' .. run .. ', which is ' .. (state or 'gone'))
    run = false
  elseif why then
    abandon(run, actor, why)
    run = redis.call('HGET', conv_key(c), 'run')
  else
    redis.call('ZADD', RUNNING, 'NX', now, c .. '|' .. run)
    redis.call('HSETNX', turn_key(run), 'token', '')
    redis.call('HDEL', turn_key(run), 'void') -- of a process of another release
    if not redis.call('ZSCORE', INDEX, 't|' .. c .. '|' .. run) and not redis.call('ZSCORE', INDEX, 'q|' .. c) then
      redis.call('ZADD', INDEX, redis.call('HGET', turn_key(run), 'until'), 't|' .. c .. '|' .. run)
      done('the index lacked ' .. run)
    end
  end
end
local function queued(turn)
  for _, t in ipairs(redis.call('LRANGE', ready_key(c), 0, -1)) do
    if t == turn then return true end
  end
end
-- settle puts one turn where its state says that it is.
local function settle(turn)
  local state, actor, why = look(turn)
  if not state or terminal[state] then
    forget(turn)
    for _, field in ipairs(redis.call('HKEYS', conv_key(c))) do
      if redis.call('HGET', conv_key(c), field) == turn then
        redis.call('HDEL', conv_key(c), field)
        done(field .. ' named ' .. turn .. ', which is ' .. (state or 'gone'))
      end
    end
  elseif turn == run then
    return
  elseif why then
    abandon(turn, actor, why)
  elseif state == 'running' then
    if run then
      abandon(turn, actor, 'another turn of its conversation runs')
    else
      run = turn
      redis.call('HSET', conv_key(c), 'run', turn)
      redis.call('ZADD', INDEX, redis.call('HGET', turn_key(turn), 'until'), 't|' .. c .. '|' .. turn)
      done('run named nobody, and ' .. turn .. ' runs')
    end
  elseif state == 'parked' or state == 'queued' then
    local other = redis.call('HGET', conv_key(c), 'p:' .. actor)
    if other and other ~= turn then
      abandon(turn, actor, 'another turn of its actor is parked')
      return
    end
    if not other then
      redis.call('HSET', conv_key(c), 'p:' .. actor, turn)
      done('the conversation did not know of ' .. turn)
    end
    local w = redis.call('HMGET', turn_key(turn), 'void', 'card_wait', 'wait_id')
    if w[1] and w[2] ~= w[3] then
      redis.call('HDEL', turn_key(turn), 'void', 'card')
      done('a card of ' .. turn .. ' was that of an earlier wait')
    end
    if state == 'parked' then
      redis.call('ZADD', PARKED, 'NX', now, c .. '|' .. turn)
      local ends = redis.call('HGET', turn_key(turn), 'wait_until')
      if ends and not tonumber(ends) then
        ends = now
        redis.call('HSET', turn_key(turn), 'wait_until', now)
      end
      if ends and not redis.call('ZSCORE', INDEX, 'w|' .. c .. '|' .. turn) then
        due_wait(c, turn, ends)
        done('the index lacked the end of the wait of ' .. turn)
      end
    elseif not queued(turn) then
      redis.call('RPUSH', ready_key(c), turn)
      redis.call('ZADD', WAITING, 'NX', now, c .. '|' .. turn)
      done('the queue lacked ' .. turn)
    end
  else
    abandon(turn, actor, 'its state is ' .. state)
  end
end
for _, field in ipairs(redis.call('HKEYS', conv_key(c))) do
  if string.sub(field, 1, 2) == 'p:' then
    local turn = redis.call('HGET', conv_key(c), field)
    settle(turn)
    local actor = redis.call('TYPE', turn_key(turn)).ok ~= 'none' and redis.call('HGET', turn_key(turn), 'actor')
    if redis.call('HGET', conv_key(c), field) == turn and 'p:' .. (actor or '') ~= field then
      redis.call('HDEL', conv_key(c), field)
      done(field .. ' named a turn of ' .. (actor or 'nobody'))
    end
  end
end
for _, turn in ipairs(redis.call('LRANGE', ready_key(c), 0, -1)) do
  settle(turn)
  if redis.pcall('HGET', turn_key(turn), 'state') ~= 'queued' then redis.call('LREM', ready_key(c), 0, turn) end
end

-- What the shard's lists say, against what there is.
local lane, names = lane_fine(wait_key(c)), {}
for _, member in ipairs(lane) do
  names[member] = true
  redis.call('ZADD', WAITING, 'NX', now, c .. '|' .. member)
end
local unsent = {}
for _, part in ipairs(redis.call('LRANGE', out_key(c), 0, -1)) do
  local id = string.match(part, '^[^\n]*')
  unsent[id] = true
  redis.call('ZADD', UNSENT, 'NX', now, c .. '|' .. id)
end
for line in string.gmatch(ARGV[4], '[^\n]+') do
  local list, what = string.match(line, '^(%a+)|(.*)$')
  if list == 'unsent' then
    -- A part that is neither posted nor there was lost with its outbox.
    if not unsent[what] and redis.call('ZSCORE', UNSENT, c .. '|' .. what) then
      local t = turn_key(string.match(what, '^[^/]*'))
      local actor = redis.call('TYPE', t).ok == 'hash' and redis.call('HGET', t, 'actor') or ''
      if not parts[what] then
        out[#out + 1] = {'tell', what, is_actor(actor) and actor or ''}
      else
        redis.call('ZREM', UNSENT, c .. '|' .. what)
        undelivered(c, what, now)
        if parts[what] ~= '' then queue_parts(c, {parts[what]}, nil, now) end
        done('part ' .. what .. ' was lost')
      end
    end
  elseif list == 'tasks' then
    local turn = string.match(what, '[^/]*$')
    local f = typed(task_key(what), 'hash', turn) and redis.call('HMGET', task_key(what), 'v', 'tries', 'until') or {}
    if f[1] and (f[1] ~= '1' or not tonumber(f[2] or '') or f[3] and not tonumber(f[3])) then
      set_aside(c, turn, 'task:' .. what, 'its record cannot be read', what, now)
      f = {}
      done('set aside task ' .. what)
    end
    if not f[1] then
      drop_task(c, what)
    elseif not redis.call('ZSCORE', INDEX, 'k|' .. c .. '|' .. what) and not has_unsent(c, turn) then
      due_task(c, what, now)
      done('the index lacked task ' .. what)
    end
  elseif list == 'waiting' and string.find(what, ' ', 1, true) then
    if not names[what] then
      local m = msg_key(place_of(c), string.match(what, '^%S*'))
      if typed(m, 'hash') and redis.call('HGET', m, 'state') == 'waiting' and redis.call('HGET', m, 'conv') == c then
        redis.call('ZADD', wait_key(c), 0, what)
        lane[#lane + 1] = what
        done('the lane lacked ' .. what)
      else
        redis.call('ZREM', WAITING, c .. '|' .. what)
      end
    end
  elseif list then
    settle(what)
    local state = redis.pcall('HGET', turn_key(what), 'state')
    if what ~= run then redis.call('ZREM', INDEX, 't|' .. c .. '|' .. what) end
    if state ~= 'running' then redis.call('ZREM', RUNNING, c .. '|' .. what) end
    if state ~= 'parked' then redis.call('ZREM', PARKED, c .. '|' .. what) end
    if state ~= 'queued' then redis.call('ZREM', WAITING, c .. '|' .. what) end
  end
end

if #lane > 0 or run or next(unsent) then redis.call('HSETNX', conv_key(c), 'v', 1) end
if not redis.call('HGET', conv_key(c), 'run') and (#lane > 0 or redis.call('LLEN', ready_key(c)) > 0) then
  if not redis.call('ZSCORE', INDEX, 'q|' .. c) then
    offer(c, now)
    done('what waits was not on offer')
  end
end
if next(unsent) and not redis.call('ZSCORE', INDEX, 's|' .. c) then
  due_send(c, now)
  done('the index lacked the outbox')
elseif not next(unsent) then
  redis.call('ZREM', INDEX, 's|' .. c)
end
rest(c)
return out
