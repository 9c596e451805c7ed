/**
 * What a Redis-compatible server does in one step, in Lua. All keys begin with a hash tag, so that they lie on one
 * node of a cluster:
 *
 * - `value:KEY` holds a value, and expires by itself;
 * - `written` orders the keys of all values by when they were written, in microseconds of the server's clock;
 * - `facts` has for each of them the bytes that it takes and its group, `total` the sum of all bytes;
 * - `group:GROUP` holds the keys of a group, `lease:KEY` the holder of a lease;
 * - `journal:NAME` holds the rows of a journal (`redis-store.ts`).
 *
 * Every write prolongs `written`, `facts` and `total`, so that they outlive the last value and no longer. A server that is
 * short of memory may drop one of them all the same (`maxmemory-policy`). Then all three begin anew: with some of them
 * every write would delete all other values, or none ever. Values that they no longer know are found until they expire.
 */
export const prefix = '{foldgate}:'

/** The size of an entry beside its texts, in bytes: about what Redis 7 needs for its four places. */
const ENTRY_BYTES = 256

/** Expired values that a write takes out of `written`, `facts` and `total` at most. */
const SWEEP_KEYS = 16

/** Values that a write deletes at most to come back under the size that is allowed. */
const TRIM_KEYS_MAX = 256

/** Values of a group that are deleted at a time: the server serves no other client meanwhile. */
const GROUP_STEP_KEYS = 500

const shared = `
local prefix = KEYS[1]
local written, facts, total = prefix .. 'written', prefix .. 'facts', prefix .. 'total'
local function forget(key)
  local removed = redis.call('UNLINK', prefix .. 'value:' .. key)
  local known = redis.call('HGET', facts, key)
  if known then
    local bytes, group = string.match(known, '^(%d+):(.*)$')
    redis.call('HDEL', facts, key)
    redis.call('ZREM', written, key)
    redis.call('DECRBY', total, bytes)
    if group ~= '' then redis.call('SREM', prefix .. 'group:' .. group, key) end
  end
  return removed
end
`

/**
 * Writes a value and answers what stands. Arguments: the key, the value, its group or nothing, its lifetime in
 * milliseconds or 0, how many bytes all may take, and 1 where a standing value stays.
 */
export const writeScript = `${shared}
local key, value, group = ARGV[1], ARGV[2], ARGV[3]
local lifetime, bytes_max, if_absent = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6] == '1'
local place = prefix .. 'value:' .. key
if if_absent then
  local standing = redis.call('GET', place)
  if standing then return standing end
end
-- A server without room refuses this; behind a first deletion it would let everything through.
redis.call('SET', place, value)
forget(key)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if lifetime > 0 then
  local until_then = now - lifetime * 1000
  local outlived = redis.call('ZRANGEBYSCORE', written, '-inf', until_then, 'LIMIT', 0, ${SWEEP_KEYS})
  for _, old in ipairs(outlived) do forget(old) end
end
local bytes = 4 * #key + #value + ${ENTRY_BYTES}
if bytes > bytes_max then return value end
if redis.call('EXISTS', written, facts, total) < 3 then redis.call('UNLINK', written, facts, total) end
redis.call('SET', place, value)
redis.call('ZADD', written, now, key)
redis.call('HSET', facts, key, bytes .. ':' .. group)
redis.call('INCRBY', total, bytes)
local prolonged = { place, written, facts, total }
if group ~= '' then
  redis.call('SADD', prefix .. 'group:' .. group, key)
  prolonged[5] = prefix .. 'group:' .. group
end
for _, each in ipairs(prolonged) do
  if lifetime > 0 then redis.call('PEXPIRE', each, lifetime) else redis.call('PERSIST', each) end
end
for _ = 1, ${TRIM_KEYS_MAX} do
  if tonumber(redis.call('GET', total)) <= bytes_max then break end
  local oldest = redis.call('ZRANGE', written, 0, 0)[1]
  if oldest == key then break end
  forget(oldest)
end
return value`

/** Answers the place among the arguments, and the value, of the first key that has one. */
export const firstScript = `${shared}
for index, key in ipairs(ARGV) do
  local value = redis.call('GET', prefix .. 'value:' .. key)
  if value then return { index, value } end
end
return false`

/** Deletes some values of the group given; answers how many there were, and how many keys are left to look at. */
export const deleteGroupScript = `${shared}
local members = prefix .. 'group:' .. ARGV[1]
local count = 0
for _, key in ipairs(redis.call('SRANDMEMBER', members, ${GROUP_STEP_KEYS})) do
  count = count + forget(key)
  redis.call('SREM', members, key)
end
return { count, redis.call('SCARD', members) }`

/** Grants a lease, if it is free or the holder's own. Arguments: the key, the holder, the time in milliseconds. */
export const leaseScript = `${shared}
local lease = prefix .. 'lease:' .. ARGV[1]
local holder = redis.call('GET', lease)
if holder and holder ~= ARGV[2] then return 0 end
redis.call('SET', lease, ARGV[2], 'PX', ARGV[3])
return 1`

/** Ends the lease of the key given, if the holder given holds it. */
export const releaseScript = `${shared}
local lease = prefix .. 'lease:' .. ARGV[1]
if redis.call('GET', lease) == ARGV[2] then redis.call('DEL', lease) end
return 0`
