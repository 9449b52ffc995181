-- remove: a message was deleted. KEYS: the message, the index.
-- ARGV: 2 conversation, 3 ts, 4 row (a letter for each place), 5 the deletion's
--   ts, 6 owner, 7 nonce, 8 ttl (ms), 9 turn id, 10 setup, 11 claims
-- Returns {letter, turn, conversation, author, claimed or false}.
local c, ts, row = ARGV[2], ARGV[3], ARGV[4]
local by = {owner = ARGV[6], nonce = ARGV[7], ttl = tonumber(ARGV[8]), turn = ARGV[9],
  setup = ARGV[10], claims = ARGV[11]}
local m = msg_key(place_of(c), ts)
local place, f = standing(c, ts)
if f.conv then c = f.conv end
local letter = string.sub(row, place + 1, place + 1)
local got = false
if letter == 'k' then
  redis.call('HSET', m, 'v', 1, 'state', 'deleted', 'conv', c, 'first', 'i')
  redis.call('PEXPIRE', m, MESSAGE_LIFE)
elseif letter == 'w' then
  redis.call('HSET', m, 'body', '')
  leave_lane(c, ts, f)
elseif letter == 's' then
  got = stop_turn(c, f.turn, f.author, ARGV[5], by, now_ms())
elseif letter == 'b' then
  if f.at then
    if redis.call('LLEN', log_key(f.turn)) > tonumber(f.at) then
      redis.call('LSET', log_key(f.turn), f.at, 'deleted\n')
    end
  else
    thread_remove(c, ts)
  end
  redis.call('HSET', m, 'state', 'deleted', 'body', '')
end
return {letter, f.turn or '', c, f.author or '', got}
