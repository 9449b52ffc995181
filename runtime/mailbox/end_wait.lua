-- end_wait: what a parked turn waited for is settled; it goes to the queue and
-- runs as soon as none runs. Whatever comes later finds nothing to end, in a
-- later wait of the same turn neither. KEYS: the turn, the conversation, the index.
-- ARGV: 2 conversation, 3 turn, 4 which wait ('': the one whose time is over),
--   5 how it ended (opaque; '': as 12 says), 6 owner, 7 nonce, 8 ttl (ms), 9 next turn
--   id, 10 setup, 11 claims, 12 how it ended, in a word, 13 who ends it, if that
--   may be the turn's actor alone ('': whoever calls may), 14.. parts
--   ('ID\nPAYLOAD'): without any, what stands with the turn says how it ended
-- Returns {0} when it does not wait, waits for something else, or its time is over
--   and 4 names it; {2} when the
--   turn is not his; else {1, claim or false, sender token, look}.
local c, turn, wait, how, who = ARGV[2], ARGV[3], ARGV[4], ARGV[12], ARGV[13]
local by = {owner = ARGV[6], nonce = ARGV[7], ttl = tonumber(ARGV[8]), turn = ARGV[9],
  setup = ARGV[10], claims = ARGV[11]}
local now = now_ms()
local t = redis.call('HMGET', turn_key(turn), 'state', 'ended_by', 'wait_id', 'wait_until', 'actor', 'e_sender', 'e_look')
if who ~= '' and t[5] and t[5] ~= who then return {2} end
if t[2] == by.nonce then return {1, claimed_before(c, by.nonce), t[6] or '', tonumber(t[7] or 0)} end
local ends = t[1] == 'parked' and tonumber(t[4] or '')
local over = ends and ends <= now -- an answer counts no more, though nobody has looked at the clock yet
if t[1] ~= 'parked' or wait ~= '' and (wait ~= t[3] or over) or wait == '' and not over then
  -- The index may have been behind.
  if ends then due_wait(c, turn, ends) else redis.call('ZREM', INDEX, 'w|' .. c .. '|' .. turn) end
  return {0}
end
local parts = {unpack(ARGV, 14)}
queue(c, turn, ARGV[5] ~= '' and ARGV[5] or ending(how, now), how, who, now)
-- An answer may still be undone, by a stop that comes before a worker.
if #parts == 0 then void(c, turn, how, now) end
local sender = queue_parts(c, parts, by, now)
redis.call('HSET', turn_key(turn), 'ended_by', by.nonce, 'e_sender', sender[1], 'e_look', sender[2])
return {1, claim_next(c, by, now), sender[1], sender[2]}
