#!lua
-- The newest bonds of sessions, of all hubs. KEYS[1] is a sorted set of "<session> <role>" by when they were told; KEYS[2] is a
-- hash of "<at> <profile>", at being when they were made or renewed. Both are in ms of this server's clock.
--
-- ARGV: channel, message, ttl (ms; 0 = they do not end), how many are kept, since when they are wanted; then bond, profile and
-- ms ago of each that is new or renewed.
-- Returns: now; then bond, "<at> <profile>" and when it was told of each that was told since.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local ttl, kept = tonumber(ARGV[3]), tonumber(ARGV[4])
local function text(n) return string.format('%d', n) end
for i = 6, #ARGV, 3 do
  local at = now - tonumber(ARGV[i + 2])
  local known = string.match(redis.call('HGET', KEYS[2], ARGV[i]) or '', '^%d+')
  if not known or tonumber(known) <= at then
    redis.call('ZADD', KEYS[1], text(now), ARGV[i])
    redis.call('HSET', KEYS[2], ARGV[i], text(at) .. ' ' .. ARGV[i + 1])
  end
end
if #ARGV > 5 then
  local gone = redis.call('ZRANGE', KEYS[1], 0, -kept - 1)
  if ttl > 0 then
    for _, bond in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now - ttl))) do gone[#gone + 1] = bond end
  end
  for _, bond in ipairs(gone) do
    redis.call('ZREM', KEYS[1], bond)
    redis.call('HDEL', KEYS[2], bond)
  end
  local keep = ttl > 0 and ttl or 30 * 86400000
  redis.call('PEXPIRE', KEYS[1], keep)
  redis.call('PEXPIRE', KEYS[2], keep)
  redis.call('PUBLISH', ARGV[1], ARGV[2])
end
local reply = { text(now) }
local made = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[5], '+inf', 'WITHSCORES')
for i = 1, #made, 2 do
  local value = redis.call('HGET', KEYS[2], made[i])
  if value then
    reply[#reply + 1] = made[i]
    reply[#reply + 1] = value
    reply[#reply + 1] = made[i + 1]
  end
end
return reply
