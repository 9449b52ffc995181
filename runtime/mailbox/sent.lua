-- sent: the sender removes what it has done with and keeps its lease, or
-- releases it with the last part. What is not posted is set aside, and what tells
-- of it stands in the outbox in the same step.
-- KEYS: the conversation, the outbox, the index.
-- ARGV: 2 conversation, 3 sender's token, 4 ttl (ms; 0 gives the lease up), 5.. six for each part: its
--   id; the ts of the message that it became in the conversation's channel ('' for
--   none): by that a reaction finds its turn; why it is set aside ('' when it is
--   not); the part that comes in its place ('' for none); where it stands, as
--   'CHANNEL TS', if that is to be found again; and what it is to whoever replies
--   below it ('card', 'notice', or ''). Of those that tell of what was set aside a
--   turn has one.
-- Returns {} when the token is stale, else {1, or 2 when tasks came due; how many
--   were set aside; parts left...}. The call that released the lease is answered alike when it is repeated.
local c = ARGV[2]
local s = redis.call('HMGET', conv_key(c), 's_tok', 's_done')
if s[1] ~= ARGV[3] then
  if s[2] == ARGV[3] then return {1, 0} end
  return {}
end
local now, done = now_ms(), {}
for i = 5, #ARGV, 6 do
  done[ARGV[i]] = i
  local turn = string.match(ARGV[i], '^(.*)/')
  if turn and ARGV[i + 1] ~= '' then
    local m = msg_key(place_of(c), ARGV[i + 1])
    redis.call('HSET', m, 'v', 1, 'state', 'posted', 'first', 'i', 'conv', c, 'turn', turn)
    if ARGV[i + 5] ~= '' then redis.call('HSET', m, 'below', ARGV[i + 5]) end
    redis.call('PEXPIRE', m, MESSAGE_LIFE)
  end
  if ARGV[i + 4] ~= '' then
    redis.call('SET', place_key(ARGV[i]), ARGV[i + 4])
    redis.call('PEXPIRE', place_key(ARGV[i]), MESSAGE_LIFE)
  end
end
local function first_told(turn)
  local t = turn_key(turn)
  return redis.call('TYPE', t).ok == 'hash' and redis.call('HSETNX', t, 'unsent', 1) == 1
end
local left, instead, aside, turns, lost = {1, 0}, {}, 0, {}, {}
for _, part in ipairs(redis.call('LRANGE', out_key(c), 0, -1)) do
  local id = string.match(part, '^([^\n]*)\n')
  local i = id and done[id]
  if i then
    local turn = string.match(id, '^[^/]*')
    turns[turn] = true
    redis.call('LREM', out_key(c), 1, part)
    redis.call('ZREM', UNSENT, c .. '|' .. id)
    if ARGV[i + 2] ~= '' then
      set_aside(c, turn, 'out:' .. c, ARGV[i + 2], part, now)
      aside = aside + 1
    end
    if ARGV[i + 2] ~= '' or ARGV[i + 3] ~= '' then lost[#lost + 1] = id end
    if ARGV[i + 3] ~= '' and (ARGV[i + 2] == '' or first_told(turn)) then instead[#instead + 1] = ARGV[i + 3] end
  else
    left[#left + 1] = part
  end
end
left[2] = aside
for _, id in ipairs(lost) do
  local part = undelivered(c, id, now)
  if part then left[#left + 1] = part end
end
if #left == 2 and #instead == 0 then
  redis.call('HDEL', conv_key(c), 's_tok', 's_until')
  redis.call('HSET', conv_key(c), 's_done', ARGV[3])
  redis.call('ZREM', INDEX, 's|' .. c)
  rest(c)
else
  local ends = now + tonumber(ARGV[4])
  redis.call('HSET', conv_key(c), 's_until', ends)
  due_send(c, ends)
  if ends == now then redis.call('PUBLISH', channel('work'), c) end
  queue_parts(c, instead, nil, now) -- the lease is ours: it offers nobody the outbox
  for _, part in ipairs(instead) do left[#left + 1] = part end
end
for turn in pairs(turns) do
  if delivered(c, turn, now) then left[1] = 2 end
end
return left
