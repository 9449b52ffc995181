-- store_set: one key of a plugin's store. In front of each value stands the nonce
-- of the call that wrote it, so that a repeated call is answered as the first was.
-- KEYS: the store.
-- ARGV: 2 key, 3 value, 4 nonce, 5 '1' to leave a key alone that is there, 6 keys at most
-- Returns {1}, {0} when the key was left alone, or {} when there is no room.
local was = redis.call('HGET', KEYS[1], ARGV[2])
if was and string.sub(was, 1, #ARGV[4]) == ARGV[4] then return {1} end
if was and ARGV[5] == '1' then return {0} end
if not was and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[6]) then return {} end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[4] .. ARGV[3])
return {1}
