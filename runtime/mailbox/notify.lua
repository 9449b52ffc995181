-- notify: a person is told something that belongs to no turn, once for the id of
-- its part. KEYS: the conversation, its outbox, the index.
-- ARGV: 2 conversation, 3 the part ('ID\nPAYLOAD'), 4 owner, 5 nonce, 6 ttl (ms)
-- Returns {sender's token, look}; the token is '' when another sends, or when the
--   part was there before.
local c, part = ARGV[2], ARGV[3]
local told = P .. 'told:' .. string.match(part, '^[^\n]*')
local before = redis.call('GET', told)
if before and before ~= ARGV[5] then return {'', 0} end
if before then -- this very call, whose answer was lost
  local s = redis.call('HGET', conv_key(c), 's_tok') or ''
  return {string.sub(s, -#ARGV[5]) == ARGV[5] and s or '', 1}
end
redis.call('SET', told, ARGV[5], 'PX', MESSAGE_LIFE)
return queue_parts(c, {part}, {owner = ARGV[4], nonce = ARGV[5], ttl = tonumber(ARGV[6])}, now_ms())
