-- Takes the rows of a run that ended before ARGV[1] (µs), and what is left of one that ended before ARGV[2]. Returns what
-- became of it, when it ended, its session and its owner.
local h = load()
if not h then return { 'gone', '0', '', '' } end
local function became(what) return { what, h.ea, h.sid, h.own } end
if h.es == 0 then return became('live') end
local what = 'kept'
if h.x == 0 and tonumber(h.ea) < tonumber(ARGV[1]) then
  what, h.x = 'expired', 1
elseif h.x == 1 then
  what = 'tombstone'
end
if what == 'kept' then return became(what) end
redis.call('DEL', KEYS[1], KEYS[2])
if tonumber(h.ea) < tonumber(ARGV[2]) then return became(what == 'expired' and 'expired and forgotten' or 'forgotten') end
save(h)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return became(what)
