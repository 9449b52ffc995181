-- swap: a book is written as a whole step, if nobody else was faster.
-- KEYS: the owner's book (its version under "v", each memory under its id), and
--   the list of owners of its shard, by when something is to be taken out.
-- ARGV: 1 owner, 2 the version that was read (0: there was no book), 3 when
--   something is to be taken out next (ms; 0: nothing is left), 4 when the last
--   memory expires (ms), 5 number of ids to take out, then those ids, then id
--   and record of each memory to write
-- Returns 1, or -1 when the book has another version by now. The same step again
-- is answered -1 too: whoever then reads the book finds it done.
--
-- A version is a time, so that a book that was erased and begun anew never has
-- one that somebody has read before: he would write back what was erased.
local book, due, owner, next = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[3])
local version = tonumber(redis.call('HGET', book, 'v') or 0)
if version ~= tonumber(ARGV[2]) then return -1 end
if next == 0 then
  redis.call('DEL', book)
  redis.call('ZREM', due, owner)
  return 1
end
local gone = tonumber(ARGV[5])
for i = 6, 5 + gone do redis.call('HDEL', book, ARGV[i]) end
for i = 6 + gone, #ARGV, 2 do redis.call('HSET', book, ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIREAT', book, ARGV[4])
redis.call('ZADD', due, next, owner)
local now = redis.call('TIME')
redis.call('HSET', book, 'v', string.format('%.0f', math.max(version + 1, now[1] * 1000000 + now[2])))
return 1
