-- swap: a book is written as a whole step, if nobody else was faster.
-- KEYS: the owner's book (its version under "v", each memory under its id), and
--   the list of owners of its shard, by when something is to be taken out.
-- ARGV: 1 owner, 2 the version that was read, 3 when something is to be taken
--   out next (ms; 0: nothing is left), 4 when the last memory expires (ms),
--   5 number of ids to take out, then those ids, then id and record of each
--   memory to write
-- Returns the new version, or -1 when the book has another one by now. The same
-- step again is answered -1 too: whoever then reads the book finds it done.
local book, due, owner, next = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[3])
if tonumber(redis.call('HGET', book, 'v') or 0) ~= tonumber(ARGV[2]) then return -1 end
if next == 0 then
  redis.call('DEL', book)
  redis.call('ZREM', due, owner)
  return 0
end
local gone = tonumber(ARGV[5])
for i = 6, 5 + gone do redis.call('HDEL', book, ARGV[i]) end
for i = 6 + gone, #ARGV, 2 do redis.call('HSET', book, ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIREAT', book, ARGV[4])
redis.call('ZADD', due, next, owner)
return redis.call('HINCRBY', book, 'v', 1)
