/**
 * What a Redis-compatible server does with journals in one step, in Lua. `{foldgate}:journal:NAME` is a stream, whose
 * entries have a row's group, or nothing, and its text. The server's clock is in their ids, so that what has outlived
 * its time is told by its id, and let go before anything is read or deleted; the stream goes with its last row.
 *
 * Every script is given the journal, and the lifetime of rows in milliseconds or 0. `MINID` and exclusive
 * ids need Redis 6.2. An older one refuses to add rows, so that it has none, and all else works there.
 */
const named = `
local stream = KEYS[1] .. 'journal:' .. ARGV[1]
local lifetime = tonumber(ARGV[2])
`

const oldestId = `
local function oldest_id()
  local time = redis.call('TIME')
  local oldest = time[1] * 1000 + math.floor(time[2] / 1000) - lifetime + 1
  return string.format('%.0f', math.max(0, oldest))
end
`

const letGoOld = `${oldestId}
if lifetime > 0 then redis.call('XTRIM', stream, 'MINID', oldest_id()) end
`

/** For scripts that have `nothing` to answer where there is no stream. */
const existing = (nothing: string): string =>
  `${named}if redis.call('EXISTS', stream) == 0 then return ${nothing} end${letGoOld}`

/** Adds rows. Further arguments: how many rows the journal may hold, then the group and the text of each. */
export const appendRowsScript = `${named}${oldestId}
-- A server without room refuses these; behind a first deletion it would let everything through. What is old goes with
-- them and not behind them, so that a server which cannot tell what is old adds nothing.
for index = 4, #ARGV, 2 do
  if lifetime > 0 then
    redis.call('XADD', stream, 'MINID', '=', oldest_id(), '*', 'group', ARGV[index], 'text', ARGV[index + 1])
  else
    redis.call('XADD', stream, '*', 'group', ARGV[index], 'text', ARGV[index + 1])
  end
end
redis.call('XTRIM', stream, 'MAXLEN', ARGV[3])
if lifetime > 0 then redis.call('PEXPIRE', stream, lifetime) else redis.call('PERSIST', stream) end
return 0`

/**
 * Answers the ids and texts of rows, one after the other. Further arguments: `oldest` or `newest`, the id to go on from
 * or nothing, and how many rows.
 */
export const readRowsScript = `${existing('{}')}
local from, beyond, limit = ARGV[3], ARGV[4], ARGV[5]
local function was_reached()
  local facts = redis.call('XINFO', 'STREAM', stream)
  for index = 1, #facts, 2 do
    if facts[index] == 'last-generated-id' then
      local last_time, last_place = string.match(facts[index + 1], '(%d+)-(%d+)')
      local time, place = string.match(beyond, '(%d+)-(%d+)')
      local after = tonumber(time) - tonumber(last_time)
      return after < 0 or (after == 0 and tonumber(place) <= tonumber(last_place))
    end
  end
  return true
end
local edge = beyond ~= '' and '(' .. beyond
local entries
if from == 'oldest' then
  entries = redis.call('XRANGE', stream, edge or '-', '+', 'COUNT', limit)
  if edge and #entries == 0 and not was_reached() then
    entries = redis.call('XRANGE', stream, '-', '+', 'COUNT', limit)
  end
else
  entries = redis.call('XREVRANGE', stream, edge or '+', '-', 'COUNT', limit)
end
local found = {}
for _, entry in ipairs(entries) do
  found[#found + 1] = entry[1]
  found[#found + 1] = entry[2][4]
end
return found`

/** Rows of which one step looks whether they are of a group. */
const GROUP_STEP_ROWS = 500

/**
 * Deletes the rows of a group among the next few; answers how many those were, and the id to go on from or nothing.
 * Further arguments: the group, and the id to go on from or nothing. There is no list of a group's rows: they are
 * deleted seldom, and every row would pay for it.
 */
export const deleteGroupRowsScript = `${existing("{ 0, '' }")}
local group, beyond = ARGV[3], ARGV[4]
local entries = redis.call('XRANGE', stream, beyond == '' and '-' or '(' .. beyond, '+', 'COUNT', ${GROUP_STEP_ROWS})
local count = 0
for _, entry in ipairs(entries) do
  if entry[2][2] == group then count = count + redis.call('XDEL', stream, entry[1]) end
end
return { count, #entries == ${GROUP_STEP_ROWS} and entries[#entries][1] or '' }`
