-- What every script begins with. KEYS[1] is a run's meta, a hash; KEYS[2] are its rows, a stream.
--
-- The meta has the fields of runs.Head, "p:<producer>" for each mark, xa, when its rows expire (ms), u, whether it was made of
-- the rows, and inc, the server that took in the newest producer. A row's id is <seq>-0. Its k is n, p or c for a normal, post-terminal or closing row, or t:<state> for the terminal one; y its type, a its
-- time (µs), e its epoch, d its payload. The entry 0-1 is no row: it tells how the run began, for when the meta is lost.
--
-- Numbers stay below 1e14, so that Lua keeps them exact. They become text by %d: tostring would write 1e+14.
local STEP = 1048576 -- runs.epochStep
local TEXTS = { 'h', 'ha', 'et', 'ea', 'sid', 'own', 'cr', 'inc' }
local NUMBERS = { 's', 'ep', 'jf', 'jt', 'f', 'es', 'c', 'x', 'n', 'b', 'xa', 'u' }

local function text(n) return string.format('%d', n) end
local function id(seq) return text(seq) .. '-0' end
local function seqOf(entry) return entry and tonumber(string.match(entry[1], '^%d+')) or 0 end
local function now()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- newest is the newest row up to an id, nil when there is none.
local function newest(upTo) return redis.call('XREVRANGE', KEYS[2], upTo, '1-0', 'COUNT', 1)[1] end

-- ending finds the terminal and the closing row from the log's end backwards, before which no normal row can stand.
local function ending(h)
  local upTo = '+'
  repeat
    local rows = redis.call('XREVRANGE', KEYS[2], upTo, '1-0', 'COUNT', 64)
    for _, row in ipairs(rows) do
      local kind, state = string.match(row[2][2], '^(%a):?(.*)$')
      if kind == 'n' then return end
      if kind == 'c' then h.c = 1 end
      if kind == 't' then
        h.es, h.et, h.ea = seqOf(row), state, row[2][6]
        return
      end
      upTo = '(' .. row[1]
    end
  until #rows < 64
end

-- rebuild takes from the rows what the meta, which is lost or older than they are, does not tell.
local function rebuild(h, top)
  if h.cr == '' then
    local origin = redis.call('XRANGE', KEYS[2], '0-1', '0-1')[1]
    local v = origin and origin[2] or { 'k', 'o', 'y', '', 'a', top[2][6], 'e', '0', 'd', '' }
    h.sid, h.cr, h.own = v[4], v[6], v[10]
  end
  h.s, h.ep, h.n = seqOf(top), tonumber(top[2][8]), redis.call('XLEN', KEYS[2]) - 1
  if h.ep > 0 then
    h.jt = (h.s - 1) - (h.s - 1) % STEP
    h.jf = seqOf(newest(id(h.jt)))
  end
  ending(h)
  h.u = 1
end

-- load returns the run's head, nil when there is nothing; and whether it was deleted.
local function load()
  local h, v = {}, redis.call('HMGET', KEYS[1], 'del', unpack(TEXTS))
  local deleted = v[1]
  for i, name in ipairs(TEXTS) do h[name] = v[i + 1] or '' end
  v = redis.call('HMGET', KEYS[1], unpack(NUMBERS))
  for i, name in ipairs(NUMBERS) do h[name] = tonumber(v[i] or 0) end
  local top = newest('+')
  h.top = seqOf(top)
  if top and (h.cr == '' or h.top > h.s) then rebuild(h, top) end
  if h.cr == '' then return nil, deleted end
  if not top and h.xa > 0 and now() >= h.xa then h.x = 1 end
  return h, false
end

-- save writes the head.
local function save(h)
  local v = {}
  for _, name in ipairs(TEXTS) do v[#v + 1], v[#v + 2] = name, h[name] end
  for _, name in ipairs(NUMBERS) do v[#v + 1], v[#v + 2] = name, text(h[name]) end
  redis.call('HSET', KEYS[1], unpack(v))
end
