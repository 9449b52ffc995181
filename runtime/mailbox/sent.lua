-- sent: the sender removes what it has posted and keeps its lease, or releases
-- it with the last part. KEYS: the conversation, the outbox, the index.
-- ARGV: 2 conversation, 3 sender's token, 4 ttl (ms), 5.. part ids, each
--   followed by the ts of the message that it became in the conversation's channel
--   ('' for none): by that a reaction finds its turn
-- Returns {} when the token is stale, else {1, parts left...}. The call that
-- released the lease is answered alike when it is repeated.
local c = ARGV[2]
local s = redis.call('HMGET', conv_key(c), 's_tok', 's_done')
if s[1] ~= ARGV[3] then
  if s[2] == ARGV[3] then return {1} end
  return {}
end
local done = {}
for i = 5, #ARGV, 2 do
  done[ARGV[i]] = true
  local turn = string.match(ARGV[i], '^(.*)/')
  if turn and ARGV[i + 1] ~= '' then
    local m = msg_key(place_of(c), ARGV[i + 1])
    redis.call('HSET', m, 'v', 1, 'state', 'posted', 'first', 'i', 'conv', c, 'turn', turn)
    redis.call('PEXPIRE', m, MESSAGE_LIFE)
  end
end
local left = {1}
for _, part in ipairs(redis.call('LRANGE', out_key(c), 0, -1)) do
  local id = string.match(part, '^([^\n]*)\n')
  if id and done[id] then
    redis.call('LREM', out_key(c), 1, part)
    redis.call('ZREM', UNSENT, c .. '|' .. id)
  else
    left[#left + 1] = part
  end
end
if #left == 1 then
  redis.call('HDEL', conv_key(c), 's_tok', 's_until')
  redis.call('HSET', conv_key(c), 's_done', ARGV[3])
  redis.call('ZREM', INDEX, 's|' .. c)
  rest(c)
else
  local ends = now_ms() + tonumber(ARGV[4])
  redis.call('HSET', conv_key(c), 's_until', ends)
  redis.call('ZADD', INDEX, ends, 's|' .. c)
end
return left
