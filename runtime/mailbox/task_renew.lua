-- task_renew: whoever runs a task keeps it for another ttl, also when its lease
-- has ended and nobody else has claimed it. KEYS: the task, the index.
-- ARGV: 2 conversation, 3 the task's key, 4 token, 5 ttl (ms)
-- Returns {1}, or {} when the token is stale.
local k = task_key(ARGV[3])
if redis.call('HGET', k, 'token') ~= ARGV[4] then return {} end
local ends = now_ms() + tonumber(ARGV[5])
redis.call('HSET', k, 'until', ends)
due_task(ARGV[2], ARGV[3], ends)
return {1}
