-- What stands in front of each script, in files that are read in this order:
-- prelude_keys.lua, prelude_messages.lua, prelude_turns.lua, prelude_waits.lua,
-- prelude_ends.lua, prelude_tasks.lua.
-- Payloads (bodies, entries, parts, setups) are opaque strings; decisions read
-- hash fields alone. ARGV[1] is the shard's key prefix; every key below lies in
-- that shard.
local P = ARGV[1]
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
local function place_key(part) return P .. 'place:' .. part end
local INDEX = P .. 'leases'
local function channel(name) return string.match(P, '^(.*){') .. name end -- pub/sub knows no shards

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

-- The index has three bands, by score, so that no backlog of one hides another:
-- turns' leases by when they end; work on offer, due at once, for any replica
-- with room; and what a replica without room can do too: take over outboxes, and
-- end waits whose time is over.
local OFFERED, ROOMLESS = 1e13, 2e13
local function offer(c, now)
  redis.call('ZADD', INDEX, OFFERED + now, 'q|' .. c)
  redis.call('PUBLISH', channel('work'), c)
end

local function due_send(c, at) redis.call('ZADD', INDEX, ROOMLESS + at, 's|' .. c) end
local function due_wait(c, turn, at) redis.call('ZADD', INDEX, ROOMLESS + at, 'w|' .. c .. '|' .. turn) end

local function signal(owner, what, turn)
  redis.call('PUBLISH', channel('owner:' .. owner), what .. ' ' .. turn)
end
