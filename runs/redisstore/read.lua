-- Returns the head, the seq of the oldest row and, of each row after ARGV[1], seq, kind, type, time, epoch and payload: at most
-- ARGV[2] rows of about ARGV[3] bytes. Nothing when there is no run.
local from, limit, budget = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local h = load()
if not h then return {} end
local out = {}
for _, name in ipairs(TEXTS) do out[#out + 1] = h[name] end
for _, name in ipairs(NUMBERS) do out[#out + 1] = text(h[name]) end
out[#out + 1] = text(seqOf(redis.call('XRANGE', KEYS[2], '1-0', '+', 'COUNT', 1)[1]))
local n, size = 0, 0
while h.x == 0 and n < limit do
  local rows = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', math.min(64, limit - n))
  if #rows == 0 then break end
  for _, row in ipairs(rows) do
    local v = row[2]
    size = size + #v[10]
    if n > 0 and size > budget then return out end
    out[#out + 1], out[#out + 2], out[#out + 3] = text(seqOf(row)), v[2], v[4]
    out[#out + 1], out[#out + 2], out[#out + 3] = v[6], v[8], v[10]
    n, from = n + 1, '(' .. row[1]
  end
end
return out
