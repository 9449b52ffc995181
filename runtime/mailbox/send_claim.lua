-- send_claim: a replica takes over a conversation's outbox whose sender is lost.
-- KEYS: the conversation, the outbox, the index.
-- ARGV: 2 conversation, 3 nonce, 4 ttl (ms)
-- Returns {token, parts...}; {''} when there is nothing to take.
local c, now = ARGV[2], now_ms()
local s = redis.call('HMGET', conv_key(c), 's_tok', 's_until')
if s[2] and tonumber(s[2]) > now and string.sub(s[1], -#ARGV[3]) ~= ARGV[3] then return {''} end
local parts = redis.call('LRANGE', out_key(c), 0, -1)
if #parts == 0 then
  redis.call('HDEL', conv_key(c), 's_tok', 's_until')
  redis.call('ZREM', INDEX, 's|' .. c)
  return {''}
end
local token = redis.call('HINCRBY', conv_key(c), 'fence', 1) .. '-' .. ARGV[3]
redis.call('HSET', conv_key(c), 's_tok', token, 's_until', now + tonumber(ARGV[4]))
due_send(c, now + tonumber(ARGV[4]))
local out = {token}
for _, part in ipairs(parts) do out[#out + 1] = part end
return out
