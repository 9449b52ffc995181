-- aside: one item of a log or of an outbox cannot be processed. It is set aside,
-- where it still stands, and a person is told in the same step.
-- KEYS: the conversation, the index.
-- ARGV: 2 conversation, 3 turn, 4 its place in the log, or 'out', 5 the item, 6 why,
--   7.. parts that tell of it
-- Returns {1}, or {0} when it does not stand there any more.
local c, turn, place, item = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local now, card = now_ms(), nil
if place == 'out' then
  if redis.call('LREM', out_key(c), 1, item) == 0 then return {0} end
  card = string.match(item, '^[^\n]*')
  redis.call('ZREM', UNSENT, c .. '|' .. card)
  set_aside(c, turn, 'out:' .. c, ARGV[6], item, now)
else
  if redis.call('LINDEX', log_key(turn), place) ~= item then return {0} end
  redis.call('LSET', log_key(turn), place, 'aside ' .. string.match(item, '^%S* ?([^\n]*)') .. '\n')
  set_aside(c, turn, 'log:' .. turn, ARGV[6], item, now)
end
local parts = {}
for i = 7, #ARGV do parts[#parts + 1] = ARGV[i] end
queue_parts(c, parts, nil, now)
if card then undelivered(c, card, now) end
delivered(c, turn, now)
return {1}
