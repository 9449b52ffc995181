-- put: one message enters, is decided and applied; a turn that it starts is
-- claimed. KEYS: the conversation, the message, the index.
-- ARGV: 2 conversation, 3 ts, 4 author, 5 row, 6 body, 7 flags (letters: a
--   addressed by somebody who may instruct, f forced, s stop, u unchecked, d
--   top-level in a 1:1 DM, r reply, o a stop by reaction), 8 cap of waiting messages a
--   conversation, 9 cap an author, 10 cap of unread messages for one's own turn, 11 owner,
--   12 nonce, 13 ttl (ms), 14 turn id, 15 setup, 16 claims, 17 the ts under a reaction, or
--   'turn:' and the turn whose post it stands under, 18 the ts of the edit that the
--   body comes from
-- Returns {letter, first letter, turn, running actor, conversation, ours,
--   claimed or false, withdrawn ts...}; of a reply below a card or a notice of ours,
--   which changes nothing, {'b', 'card' or 'notice', turn, '', conversation, 0, false};
--   of a reaction to one, whose turn is in another shard, {'l', 'l', turn, '', its
--   conversation, 0, false}: it is to be put there.
local c, ts, author, row, body, flags = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local cap_all, cap_author, cap_own = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local by = {owner = ARGV[11], nonce = ARGV[12], ttl = tonumber(ARGV[13]), turn = ARGV[14],
  setup = ARGV[15], claims = ARGV[16]}
local function has(flag) return string.find(flags, flag, 1, true) ~= nil end
local now = now_ms()
local place = place_of(c)
local m = msg_key(place, ts)

-- A known message changes nothing. The very call that made it known, sent again
-- for want of an answer, is answered as it was; any other is a duplicate. Only
-- an addressed copy claims the key, and so upgrades a passive one.
local known = redis.call('HMGET', m, 'state', 'first', 'turn', 'conv', 'by', 'withdrew')
if known[1] and known[5] == by.nonce then
  local run = redis.call('HGET', conv_key(known[4]), 'run')
  local again = {known[2], known[2], known[3] or '', run and redis.call('HGET', turn_key(run), 'actor') or '',
    known[4], redis.call('HEXISTS', conv_key(known[4]), 'v'), claimed_before(known[4], by.nonce)}
  for t in string.gmatch(known[6] or '', '[^,]+') do again[#again + 1] = t end
  return again
end
if known[1] and not (known[1] == 'passive' and has('a')) then
  return {'u', known[2], known[3] or '', '', known[4], 1, false}
end

-- To which conversation it belongs: a reply where its root belongs, a top-level
-- DM to the last one while that has work, a reaction where its message does.
local on
if has('o') and string.sub(ARGV[17], 1, 5) == 'turn:' then
  on = string.sub(ARGV[17], 6)
elseif has('o') then
  local under = redis.call('HMGET', msg_key(place, ARGV[17]), 'state', 'turn', 'conv', 'of')
  if under[1] == 'notice' and under[4] then return {'l', 'l', under[2], '', under[4], 0, false} end
  if under[1] ~= 'taken' and under[1] ~= 'posted' then return {'i', 'i', '', '', c, 0, false} end
  on, c = under[2], under[3]
elseif has('r') then
  local root = redis.call('HMGET', msg_key(place, string.sub(c, #place + 2)), 'conv', 'below', 'turn')
  -- What we tell a person, or ask him, by DM is no conversation.
  if root[2] then
    if has('a') then return {'b', root[2], root[3] or '', '', c, 0, false} end
    return {'i', 'i', '', '', c, 0, false}
  end
  c = root[1] or c
elseif has('d') then
  local last = redis.call('GET', dm_key(place))
  if last and last ~= c then
    local busy = redis.call('HEXISTS', conv_key(last), 'run') == 1
      or redis.call('ZCARD', wait_key(last)) > 0 or redis.call('LLEN', ready_key(last)) > 0
      or ((has('s') or has('f')) and redis.call('HEXISTS', conv_key(last), 'p:' .. author) == 1)
    if busy then c = last end
  end
end
local ours = redis.call('HEXISTS', conv_key(c), 'v')

-- The state, seen from the author. A stop sees only turns older than itself.
local run = redis.call('HGET', conv_key(c), 'run')
local parked = redis.call('HGET', conv_key(c), 'p:' .. author)
local r = run and redis.call('HMGET', turn_key(run), 'actor', 'owner', 'stop_ts', 'first', 'state') or {}
if run and (r[5] ~= 'running' or not r[4]) then return redis.error_reply('MEND ' .. c) end
if parked then
  local p = redis.call('HMGET', turn_key(parked), 'state', 'first')
  if not p[2] or p[1] ~= 'parked' and p[1] ~= 'queued' then return redis.error_reply('MEND ' .. c) end
end
local runner = run and r[1] or ''
if has('s') then
  if run and r[4] >= ts then run = false end
  if parked and redis.call('HGET', turn_key(parked), 'first') >= ts then parked = false end
  if on and run ~= on then run = false end
  if on and parked ~= on then parked = false end
end
local column = 3
if run and r[1] == author then column = 0
elseif parked then column = 1
elseif run then column = 2 end
local ends = r[3]
if column == 1 then ends = redis.call('HGET', turn_key(parked), 'stop_ts') end
local stopping = column ~= 3 and ends and 1 or 0
local older, mine, waiting = 0, 0, redis.call('ZRANGE', wait_key(c), 0, -1)
for _, member in ipairs(waiting) do
  local t, a = lane_split(member)
  if a == author then
    mine = mine + 1
    if t < ts then older = 1 end
  end
end
local function cell(full)
  local i = ((column * 2 + stopping) * 2 + older) * 3 + full
  return string.sub(row, i + 1, i + 1)
end

-- Whether the lane into which it would go is full. Other authors' unread steers
-- take no room from an author's own.
local full, would, total = 0, cell(0), #waiting
if would == 't' or would == 'j' or would == 'e' then
  local unread = 0
  for _, member in ipairs(redis.call('ZRANGE', steer_key(would == 't' and run or parked), 0, -1)) do
    local _, a = lane_split(member)
    if a == author then unread = unread + 1 end
  end
  if unread >= cap_own then full = 1 end
elseif would == 'w' or would == 's' or would == 'c' then
  if run then
    for _, member in ipairs(redis.call('ZRANGE', steer_key(run), 0, -1)) do
      local _, a = lane_split(member)
      if a ~= r[1] then
        total = total + 1
        if a == author then mine = mine + 1 end
      end
    end
  end
  if total >= cap_all then full = 2 elseif mine >= cap_author then full = 1 end
end
local d = cell(full)

-- Reading back after a gap looks into the threads that were spoken in of late:
-- the one in which the message stands, and the one to which it belongs.
local function touch()
  local fresh = redis.call('ZADD', P .. 'touched', now, ARGV[2])
  if c ~= ARGV[2] then fresh = fresh + redis.call('ZADD', P .. 'touched', now, c) end
  if fresh > 0 then
    redis.call('ZREMRANGEBYSCORE', P .. 'touched', '-inf', now - 14 * 86400000)
    redis.call('ZREMRANGEBYRANK', P .. 'touched', 0, -5001)
  end
end

if d == 'r' or d == 'i' then return {d, d, '', runner, c, ours, false} end
if d == 'p' then
  if ours == 0 then return {'i', 'i', '', runner, c, 0, false} end
  if not known[1] then
    touch()
    redis.call('RPUSH', thread_key(c), ts .. '\n' .. body)
    redis.call('LTRIM', thread_key(c), -200, -1)
    redis.call('HSET', m, 'v', 1, 'state', 'passive', 'conv', c, 'author', author, 'first', 'p', 'by', by.nonce)
    if ARGV[18] ~= '' then redis.call('HSET', m, 'edit', ARGV[18]) end
    redis.call('PEXPIRE', m, MESSAGE_LIFE)
    rest(c)
  end
  return {'p', 'p', '', runner, c, 1, false}
end

-- It is admitted: the key is claimed, with what later retries are answered.
local function remember(state, turn)
  if known[1] then thread_remove(c, ts) end
  redis.call('HSET', m, 'v', 1, 'state', state, 'conv', c, 'author', author, 'first', d, 'body', body,
    'by', by.nonce)
  if turn then redis.call('HSET', m, 'turn', turn) end
  if has('u') then redis.call('HSET', m, 'unchecked', 1) end
  if ARGV[18] ~= '' then redis.call('HSET', m, 'edit', ARGV[18]) end
  if state == 'withdrawn' then redis.call('PEXPIRE', m, MESSAGE_LIFE) else redis.call('PERSIST', m) end
end
local function withdraw_older()
  local list = {}
  for _, member in ipairs(redis.call('ZRANGE', wait_key(c), 0, -1)) do
    local t, a = lane_split(member)
    if a == author and t < ts then
      wait_drop(c, member)
      withdrawn(c, t)
      list[#list + 1] = t
    end
  end
  return list
end
local result = {d, d, '', runner, c, 1, false}
local function took_them_back(list)
  if #list > 0 then redis.call('HSET', m, 'withdrew', table.concat(list, ',')) end
  for _, t in ipairs(list) do result[#result + 1] = t end
end

if d == 'n' then
  remember('withdrawn')
  result[6] = ours
  return result
end
redis.call('HSETNX', conv_key(c), 'v', 1)
touch()
if has('d') then redis.call('SET', dm_key(place), c) end

if d == 's' or d == 'w' then
  remember('waiting')
  wait_add(c, lane_member(ts, author), now)
  local got = claim_next(c, by, now)
  if got then
    result[7] = got
    result[4] = got[3]
  end
  local after = redis.call('HMGET', m, 'state', 'turn')
  if after[1] == 'taken' then
    d = 's'
    result[3] = after[2]
  elseif after[1] == 'steer' then
    d = 'j'
    result[3] = after[2]
  else
    d = 'w'
  end
  result[1], result[2] = d, d
  redis.call('HSET', m, 'first', d)
elseif d == 't' or d == 'c' then
  remember('steer', run)
  redis.call('ZADD', steer_key(run), 0, lane_member(ts, author))
  signal(r[2], 'steer', run)
  result[3] = run
elseif d == 'j' or d == 'e' then
  remember('steer', parked)
  redis.call('ZADD', steer_key(parked), 0, lane_member(ts, author))
  result[3] = parked
  -- A turn that was parked because nobody had touched it is touched.
  local p = redis.call('HMGET', turn_key(parked), 'state', 'wait')
  if p[1] == 'parked' and (d == 'e' or p[2] == 'untouched') then
    queue(c, parked, ending('overtaken', now), 'overtaken', author, now)
    void(c, parked, 'overtaken', now)
    result[7] = claim_next(c, by, now)
  end
elseif d == 'x' then
  local turn = column == 1 and parked or run
  remember('withdrawn', turn)
  result[3] = turn
  local took_back = withdraw_older()
  local more
  result[7], more = stop_turn(c, turn, author, ts, by, now)
  for _, t in ipairs(more) do took_back[#took_back + 1] = t end
  took_them_back(took_back)
elseif d == 'd' then
  remember('withdrawn')
  took_them_back(withdraw_older())
end
if ours == 1 then rest(c) end -- a new conversation has no expiry to take off
return result
