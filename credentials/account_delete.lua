-- account_delete: takes out a record, in the state in which it was read, and every
-- permit to put another one.
-- KEYS: the account, its shard's list of accounts, and its owner's permits.
-- ARGV: 1 owner, 2 the revision that was read ('': there was none)
-- Returns {1}, {0} when the record is another one by now, or gone, or {} when there
-- was none, and is none.
redis.call('DEL', KEYS[3])
local rev = redis.call('HGET', KEYS[1], 'rev') or ''
if rev ~= ARGV[2] then return {0} end
if rev == '' then return {} end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return {1}
