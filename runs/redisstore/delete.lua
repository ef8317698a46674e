-- Deletes a run if it is of the owner ARGV[1] and the session ARGV[2]. What stays tells that it was deleted, and not lost.
local h = load()
if not h or h.own ~= ARGV[1] or h.sid ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'del', '1')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
