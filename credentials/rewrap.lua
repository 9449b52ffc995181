-- rewrap: seals a record with another key, if it still is as it was read. Its
-- revision and its intent stay: for whoever is at it nothing has happened.
-- KEYS: the account. ARGV: 1 sealed as it was read, 2 sealed anew
-- Returns {1}, or {0} when the record is another one by now, or gone.
local sealed = redis.call('HGET', KEYS[1], 'sealed')
if sealed == ARGV[2] then return {1} end
if sealed ~= ARGV[1] then return {0} end
redis.call('HSET', KEYS[1], 'sealed', ARGV[2])
return {1}
