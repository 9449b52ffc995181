-- abandon: an operator ends an open turn, whoever holds it. Its worker, if one
-- lives, is refused from here on. KEYS: the turn, the conversation, the index.
-- ARGV: 2 conversation, 3 turn, 4 the part that tells its actor ('' for none)
-- Returns {1}, or {0, its state ('' when there is none)} when it is not open.
local c, turn = ARGV[2], ARGV[3]
local t = redis.call('HMGET', turn_key(turn), 'state', 'owner')
local open = t[1] == 'running' or t[1] == 'parked' or t[1] == 'queued'
if not open then return {0, t[1] or ''} end
local now = now_ms()
finish(c, turn, 'abandoned', now)
if ARGV[4] ~= '' then queue_parts(c, {ARGV[4]}, nil, now) end
if t[1] == 'running' and t[2] then signal(t[2], 'stop', turn) end
claim_next(c, {claims = '0'}, now, true)
rest(c)
return {1}
