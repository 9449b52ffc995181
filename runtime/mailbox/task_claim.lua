-- task_claim: a replica takes up a task that is due. A try counts from here, so
-- that one which takes its process with it is not made for ever.
-- KEYS: the task, the index.
-- ARGV: 2 conversation, 3 the task's key, 4 owner, 5 nonce, 6 ttl (ms), 7 tries at most
-- Returns {} when there is nothing to take; {'later', ms}; {'aside'} when its
--   tries are used up; or {'claimed', token, try}.
local c, key, now = ARGV[2], ARGV[3], now_ms()
local k = task_key(key)
local t = redis.call('HMGET', k, 'v', 'tries', 'until', 'token', 'turn')
if not t[1] then
  drop_task(c, key)
  return {}
end
local tries, ends = tonumber(t[2] or ''), tonumber(t[3] or '0')
if t[1] ~= '1' or not tries or not ends then return redis.error_reply('MEND ' .. c) end
if string.sub(t[4] or '', -#ARGV[5]) == ARGV[5] then return {'claimed', t[4], tries} end
if ends > now then
  due_task(c, key, ends)
  return {'later', ends - now}
end
if tries >= tonumber(ARGV[7]) then
  set_aside(c, t[5] or '', 'task:' .. key, 'none of its ' .. tries .. ' tries came to its end', key, now)
  drop_task(c, key)
  return {'aside'}
end
local token = redis.call('HINCRBY', k, 'fence', 1) .. '-' .. ARGV[5]
redis.call('HSET', k, 'token', token, 'owner', ARGV[4], 'until', now + tonumber(ARGV[6]), 'tries', tries + 1)
due_task(c, key, now + tonumber(ARGV[6]))
return {'claimed', token, tries + 1}
