#!lua
-- How many slots each hub holds. KEYS[1] is a hash, of which a field is a hub and its value "<count>:<version>:<end>", the end
-- in ms of this server's clock. KEYS[2] is what is known of the account.
--
-- ARGV: hub, version, held ('' = only look), asked, limit, ttl (ms), channel, message.
-- Returns: how many more were granted; what the others hold; what this hub held here, -1 = nothing was known; whether the
-- version was an old one's; the stamp of KEYS[2].
local hub, version, held = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local others, before, newest, gone = 0, -1, 0, {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local n, v, x = string.match(all[i + 1], '^(%d+):(%d+):(%d+)$')
  if not n or tonumber(x) <= now then
    gone[#gone + 1] = all[i]
  elseif all[i] == hub then
    before, newest = tonumber(n), tonumber(v)
  else
    others = others + tonumber(n)
  end
end
if #gone > 0 then redis.call('HDEL', KEYS[1], unpack(gone)) end
local stamp = redis.call('HGET', KEYS[2], '#') or ''
if not held then return { 0, others, before, 0, stamp } end
if version <= newest then return { 0, others, before, 1, stamp } end

local granted = math.max(0, math.min(tonumber(ARGV[4]), tonumber(ARGV[5]) - others - held))
local ttl = tonumber(ARGV[6])
redis.call('HSET', KEYS[1], hub, string.format('%d:%d:%d', held + granted, version, now + ttl))
redis.call('PEXPIRE', KEYS[1], 10 * ttl)
if held + granted ~= math.max(0, before) then redis.call('PUBLISH', ARGV[7], ARGV[8]) end
return { granted, others, before, 0, stamp }
