#!lua
-- What is known of an account. KEYS[1] is a hash: a field is a cause, its value "<until>:<since>:<cleared>:<block>", in ms of
-- this server's clock: until when it stands against the account, when it was seen last, and up to when what was seen of it
-- has been disproved. A block stands while until > now and since > cleared; as long as it does, until and since only grow, and
-- cleared never shrinks. The field "#" is a stamp, which is another one after each change; "!" is up to when an operator cleared
-- all but a refused credential.
--
-- ARGV: channel, message, then operations of six words each:
--   clear - <ago> - - -                     an operator cleared the account so many ms ago
--   over  <cause> <ago> <json> <since> -    what was seen of it is disproved: up to so many ms ago, and as it was known
--   block <cause> <ago> <json> <left> <cleared>   seen so many ms ago, and for so many ms yet, -1 = for ever, by a hub that
--                                           knows of this cleared
-- Returns: now; the stamp; "!"; then cause and value of each field.
local KEEP = 600000    -- how long what is over is remembered, so that nobody's late word brings it back
local DAY = 86400000
local FOREVER = 9e13   -- the end of a block that has none
local function text(n) return string.format('%d', n) end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local all, cleared, changed = {}, 0, false
local stamp = ''
local flat = redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do
  local field, value = flat[i], flat[i + 1]
  if field == '#' then
    stamp = value
  elseif field == '!' then
    cleared = tonumber(value) or 0
  else
    local u, s, c, json = string.match(value, '^(%d+):(%d+):(%d+):(.*)$')
    if u then all[field] = { until_ = tonumber(u), since = tonumber(s), cleared = tonumber(c), json = json } end
  end
end
local function put(field, r)
  all[field], changed = r, true
  redis.call('HSET', KEYS[1], field, text(r.until_) .. ':' .. text(r.since) .. ':' .. text(r.cleared) .. ':' .. r.json)
end

local operation = {}
function operation.clear(_, ago)
  cleared, changed = math.max(cleared, now - tonumber(ago)), true
  redis.call('HSET', KEYS[1], '!', text(cleared))
end
function operation.over(field, ago, json, since)
  local r = all[field] or { until_ = now, since = 0, cleared = 0, json = json }
  local upTo = math.max(tonumber(since), now - tonumber(ago))
  if upTo > r.cleared then
    r.cleared = upTo
    put(field, r)
  end
end
function operation.block(field, ago, json, left, known)
  local r = all[field] or { until_ = 0, since = 0, cleared = 0, json = '' }
  local upTo = r.cleared
  if not string.find(field, 'auth_required|', 1, true) then upTo = math.max(upTo, cleared) end
  local seen = now - tonumber(ago)
  if tonumber(known) == upTo then seen = math.max(seen, upTo + 1) end -- the hub knows what was disproved, and saw it again
  if seen <= upTo then return end
  local until_ = tonumber(left) < 0 and FOREVER or now + tonumber(left)
  local stands = r.since > upTo and r.until_ > now
  if stands and until_ <= r.until_ and seen <= r.since then return end
  r.json = (not stands or until_ >= r.until_) and json or r.json
  r.until_ = stands and math.max(until_, r.until_) or until_
  r.since, r.cleared = math.max(seen, r.since), upTo
  put(field, r)
end
for i = 3, #ARGV, 6 do
  operation[ARGV[i]](ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
end

if changed then
  local keep = now + DAY
  for field, r in pairs(all) do
    if r.until_ == FOREVER then
      keep = math.max(keep, now + 30 * DAY)
    elseif r.until_ + KEEP < now then
      redis.call('HDEL', KEYS[1], field)
      all[field] = nil
    else
      keep = math.max(keep, r.until_ + KEEP)
    end
  end
  stamp = t[1] .. t[2]
  redis.call('HSET', KEYS[1], '#', stamp)
  redis.call('PEXPIREAT', KEYS[1], keep)
  redis.call('PUBLISH', ARGV[1], ARGV[2])
end
local reply = { text(now), stamp, text(cleared) }
for field, r in pairs(all) do
  reply[#reply + 1] = field
  reply[#reply + 1] = text(r.until_) .. ':' .. text(r.since) .. ':' .. text(r.cleared) .. ':' .. r.json
end
return reply
