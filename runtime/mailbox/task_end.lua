-- task_end: a try of a task is over. KEYS: the task, the index.
-- ARGV: 2 conversation, 3 the task's key, 4 token, 5 how: done, again (after a
--   pause), release (at once, and the try does not count) or aside, 6 pause (ms),
--   7 why it is set aside
-- Returns {1}, or {} when the token is stale. The same again is answered alike.
local c, key, how = ARGV[2], ARGV[3], ARGV[5]
local k, now = task_key(key), now_ms()
local t = redis.call('HMGET', k, 'token', 'ended', 'tries', 'turn', 'v')
if not t[5] or t[2] == ARGV[4] then return {1} end
if t[1] ~= ARGV[4] then return {} end
if how == 'done' or how == 'aside' then
  if how == 'aside' then set_aside(c, t[4] or '', 'task:' .. key, ARGV[7], key, now) end
  drop_task(c, key)
  return {1}
end
if how == 'release' then redis.call('HINCRBY', k, 'tries', -1) end
local at = now + tonumber(ARGV[6])
redis.call('HSET', k, 'token', '', 'ended', ARGV[4], 'until', at)
due_task(c, key, at)
return {1}
