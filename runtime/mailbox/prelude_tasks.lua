-- Completed-turn tasks: written in the step that closes their turn, and due once
-- none of its parts waits to be posted. A task's key is 'PLUGIN/TASK/TURN'.
local TASKS = P .. 'tasks' -- what there is in the shard, like the lists in prelude_keys.lua
local function task_key(key) return P .. 'task:' .. key end

-- The index's fourth band: a backlog of tasks hides nothing else.
local LATER = 3e13
local function due_task(c, key, at) redis.call('ZADD', INDEX, LATER + at, 'k|' .. c .. '|' .. key) end
local function drop_task(c, key)
  redis.call('DEL', task_key(key))
  redis.call('ZREM', INDEX, 'k|' .. c .. '|' .. key)
  redis.call('ZREM', TASKS, c .. '|' .. key)
end

local function has_unsent(c, turn)
  for _, part in ipairs(redis.call('LRANGE', out_key(c), 0, -1)) do
    if string.sub(part, 1, #turn + 1) == turn .. '/' then return true end
  end
  return false
end

-- Makes a turn's tasks due if its parts have left the outbox. Returns whether
-- any came due.
local function delivered(c, turn, now)
  local names = redis.pcall('HGET', turn_key(turn), 'held')
  if type(names) ~= 'string' or has_unsent(c, turn) then return false end
  redis.call('HDEL', turn_key(turn), 'held')
  for name in string.gmatch(names, '[^,]+') do due_task(c, name .. '/' .. turn, now) end
  return true
end

-- Writes a turn's tasks, named 'PLUGIN/TASK' by comma, once each.
local function schedule(c, turn, names, now)
  if names == '' then return end
  for name in string.gmatch(names, '[^,]+') do
    local key = name .. '/' .. turn
    redis.call('HSET', task_key(key), 'v', 1, 'conv', c, 'turn', turn, 'born', now, 'tries', 0)
    redis.call('ZADD', TASKS, 'NX', now, c .. '|' .. key)
  end
  redis.call('HSET', turn_key(turn), 'tasks', names, 'held', names)
  delivered(c, turn, now)
end
