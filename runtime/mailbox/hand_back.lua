-- hand_back: a message that a turn of somebody else's took in as context becomes
-- its author's follow-up, once. It stays in that turn's log, where it has been
-- read, and waits at its own place for a turn in which it is a request.
-- KEYS: the conversation, the turn, the message, the index.
-- ARGV: 2 conversation, 3 the turn that took it in, 4 its token when its run asks,
--   5 the author when he asks, 6 ts, 7 what names this very asking, 8 owner,
--   9 nonce, 10 ttl (ms), 11 next turn id, 12 setup, 13 claims
-- Returns {} when the token is stale; else {letter, author, claimed or false}, of
--   the letters h handed back, a handed back before (or his own
--   already, when he asks), d deleted, o the turn's
--   actor's own, u not taken in by the turn, n not the asking person's.
local c, turn, token, ts, asking = ARGV[2], ARGV[3], ARGV[4], ARGV[6], ARGV[7]
local by = {owner = ARGV[8], nonce = ARGV[9], ttl = tonumber(ARGV[10]), turn = ARGV[11],
  setup = ARGV[12], claims = ARGV[13]}
if token ~= '' and not holds(turn, token) then return {} end
local m, now = msg_key(place_of(c), ts), now_ms()
local f = redis.call('HMGET', m, 'state', 'conv', 'author', 'turn', 'as', 'at', 'handed', 'handed_turn')
local author = f[3] or ''
if not f[1] or f[2] ~= c then return {'u', '', false} end
if token == '' and author ~= ARGV[5] then return {'n', '', false} end
if f[8] == turn then
  if f[7] == asking then return {'h', author, claimed_before(c, by.nonce)} end
  return {'a', author, false}
end
-- What its turn did not carry is his follow-up already, or a turn of his own.
if token == '' and (f[1] == 'waiting' or f[1] == 'taken' and f[4] ~= turn and f[5] == 'request') then
  return {'a', author, false}
end
if f[4] ~= turn then return {'u', '', false} end
if f[1] == 'deleted' then return {'d', author, false} end
if author == redis.call('HGET', turn_key(turn), 'actor') then return {'o', author, false} end
if f[1] ~= 'taken' or f[5] ~= 'steer_context' then return {'u', author, false} end
follow_up(c, ts, author, now)
redis.call('HSET', m, 'handed', asking, 'handed_turn', turn, 'handed_at', f[6])
-- It waits already: the closing step has nothing to give back of it.
redis.call('HDEL', turn_key(turn), 'u:' .. ts, 'k:' .. ts)
local got = claim_next(c, by, now)
rest(c)
return {'h', author, got}
