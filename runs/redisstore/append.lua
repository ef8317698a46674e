-- Judges one batch as runs.Decide does, in its order, and writes it. Every check comes before the first write, for what was
-- written stays when a script fails.
local producer, epoch, first, executor, at = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1', ARGV[5]
local expect, heal, begin = tonumber(ARGV[6]), ARGV[7] == '1', ARGV[8] == '1'
local session, owner, created = ARGV[9], ARGV[10], ARGV[11]
local live, retention, tombstone = tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local bell, ringer = ARGV[15], ARGV[16]
local ROWS, WIDTH = 16, 4 -- kind, type, time, payload
local n = (#ARGV - ROWS) / WIDTH

local h, deleted = load()
local known = h ~= nil
if not known then
  h = { s = 0, ep = 0, jf = 0, jt = 0, f = 0, es = 0, c = 0, x = 0, n = 0, b = 0, xa = 0, u = 0, top = 0 }
  h.h, h.ha, h.et, h.ea, h.sid, h.own, h.cr, h.inc = '', '', '', '', session, owner, created, ''
end
local mark = { epoch = 0, seq = 0, last = 0 }
local stored = redis.call('HGET', KEYS[1], 'p:' .. producer)
if stored then
  local e, s, l = string.match(stored, '^(-?%d+):(-?%d+):(%d+)$')
  mark = { epoch = tonumber(e), seq = tonumber(s), last = tonumber(l) }
end

local function answer(outcome, from, to)
  return { outcome, from, to, h.ep, mark.epoch, mark.seq, mark.last, h.es }
end
local function refuse(outcome) return answer(outcome, 0, h.s) end

-- A deleted run has left a marker. Where there is nothing at all, what the producer wrote before is lost, if it did.
if not known and not begin then return refuse((deleted or first <= 1) and 'unknown_run' or 'missing') end
if h.x == 1 then return refuse('unknown_run') end
if epoch < mark.epoch or executor and (epoch < h.f or epoch == h.f and h.h ~= producer) then return refuse('fenced') end
if epoch > mark.epoch then mark = { epoch = epoch, seq = 0, last = 0 } end
if n > 0 then
  local last = first + n - 1
  if last <= mark.seq then return answer('duplicate', 0, mark.last) end
  if first <= mark.seq then return refuse('overlap') end
  if first > mark.seq + 1 and not heal then return refuse('missing') end
end

-- The order of a run.
local ended, closed = h.es ~= 0, h.c == 1
if closed then return refuse('sealed') end
for i = ROWS + 1, #ARGV, WIDTH do
  local kind = string.sub(ARGV[i], 1, 1)
  if closed then return refuse('sealed') end
  if ended and (kind == 'n' or kind == 't') then return refuse('ended') end
  if not ended and kind == 'c' then return refuse('unended') end
  ended, closed = ended or kind == 't', kind == 'c'
end

-- jump begins an epoch, whose seqs no row ever had.
local function jump(atLeast)
  h.jf, h.jt = h.s, (math.floor(math.max(h.s, atLeast) / STEP) + 1) * STEP
  h.s, h.ep = h.jt, h.ep + 1
end
if expect ~= -1 and expect ~= h.s then
  if not heal then return refuse('stale') end
  jump(expect)
elseif n > 0 and expect == -1 then
  -- A producer that knows nothing of the run's newest rows cannot see that some are lost: not when it goes on behind a meta
  -- that is lost, nor when it is new to the run and the server is another than when somebody else was.
  local inc = h.inc
  if mark.seq == 0 then
    local info = redis.pcall('INFO', 'server')
    h.inc = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or inc
  end
  if h.u == 1 or inc ~= '' and inc ~= h.inc then jump(0) end
end

-- From here on it is written.
if executor then h.f, h.h, h.ha = epoch, producer, at end
if n > 0 and h.top == 0 then
  redis.pcall('XADD', KEYS[2], '0-1', 'k', 'o', 'y', h.sid, 'a', h.cr, 'e', '0', 'd', h.own)
end
local from, e = h.s + 1, text(h.ep)
for i = ROWS + 1, #ARGV, WIDTH do
  local kind, payload = ARGV[i], ARGV[i + 3]
  h.s = h.s + 1
  redis.call('XADD', KEYS[2], id(h.s), 'k', kind, 'y', ARGV[i + 1], 'a', ARGV[i + 2], 'e', e, 'd', payload)
  h.n, h.b = h.n + 1, h.b + #payload
  if string.sub(kind, 1, 1) == 't' then h.es, h.et, h.ea = h.s, string.sub(kind, 3), ARGV[i + 2] end
  if kind == 'c' then h.c = 1 end
end
if n > 0 then mark.seq, mark.last, h.u = first + n - 1, h.s, 0 end
local rowsFor, headFor = live, live
if h.es ~= 0 then
  rowsFor, headFor = retention, retention + tombstone
  h.xa = now() + retention
end
if deleted then redis.call('HDEL', KEYS[1], 'del') end
save(h)
redis.call('HSET', KEYS[1], 'p:' .. producer, text(mark.epoch) .. ':' .. text(mark.seq) .. ':' .. text(mark.last))
redis.call('PEXPIRE', KEYS[1], text(headFor))
redis.call('PEXPIRE', KEYS[2], text(rowsFor))
if n > 0 then redis.pcall('PUBLISH', bell, ringer) end -- whom it does not reach looks again before long
return answer('stored', n > 0 and from or 0, h.s)
