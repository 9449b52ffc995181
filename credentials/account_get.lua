-- account_get: reads a record, with where it stands by the store's clock.
-- KEYS: the account.
-- Returns {} when there is none, or {revision, sealed, shown, state}.
local f = redis.call('HMGET', KEYS[1], 'rev', 'sealed', 'shown', 'intent', 'until')
if not f[1] then return {} end
local state = 'live'
if f[4] then
  local t = redis.call('TIME')
  state = tonumber(f[5]) > t[1] * 1000 + math.floor(t[2] / 1000) and 'refreshing' or 'broken'
end
return {f[1], f[2], f[3], state}
