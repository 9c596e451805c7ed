import { isJsonObject, stringOr, type JsonObject } from '../../../conversation/json-value.ts'
import { isIncomplete } from './reply.ts'
import { mergedDelta } from './merged-delta.ts'

/** The calls of a streamed reply, as their deltas come in. */
export type StreamedCalls = {
  /** Takes the deltas of one chunk; returns those that the client gets now, which may be the very same. */
  readonly take: (deltas: readonly unknown[]) => readonly unknown[]
  /** What was held back of the client's calls and goes on in the end; those that were cut are left out on demand. */
  readonly release: (how: { readonly dropsIncomplete: boolean }) => readonly unknown[]
  /** All calls, each as its deltas add up. */
  readonly all: () => readonly JsonObject[]
  readonly hasOurs: () => boolean
  /** Whether anything of the client's calls is held back. */
  readonly isHolding: () => boolean
}

export type StreamedCallsOptions = {
  /** The name of the tool that Foldgate answers; null where there is none. */
  readonly toolName: string | null
  /** Whether the client's calls are held until they are complete. */
  readonly holds: boolean
}

/**
 * Tells Foldgate's own calls from the client's: deltas are held until their call is named, own ones go no further, and
 * the client's are numbered as if there were no others.
 */
export function createStreamedCalls({ toolName, holds }: StreamedCallsOptions): StreamedCalls {
  const calls: Call[] = []

  function callOf(delta: JsonObject): Call {
    const index = delta['index']
    const id = stringOr(delta['id'], '')
    const known = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index)
    if (known !== undefined && !isAnother(known, id, delta)) {
      if (known.id === '') known.id = id
      return known
    }
    const call: Call = { index, id, json: {}, name: '', owner: 'unknown', held: [] }
    calls.push(call)
    return call
  }

  function readOwner(call: Call): void {
    if (call.owner !== 'unknown') return
    if (call.name === toolName) call.owner = 'ours'
    // No name goes on once there are arguments.
    else if (toolName === null || !toolName.startsWith(call.name) || hasArguments(call.json))
      call.owner = 'client'
  }

  function numbered(call: Call, delta: JsonObject): JsonObject {
    const before = calls.slice(0, calls.indexOf(call)).filter(({ owner }) => owner === 'ours').length
    const { index } = delta
    return before === 0 || typeof index !== 'number'
      ? delta
      : { ...delta, index: Math.max(0, index - before) }
  }

  /** What was held of a call, as one delta: clients that add up deltas take one of each call in a chunk. */
  function flushed(call: Call): JsonObject[] {
    const { held } = call
    call.held = []
    const [only, ...more] = held
    if (only === undefined) return []
    // Held are all of its deltas or the latest: of several, all.
    return [numbered(call, more.length === 0 ? only : named(call))]
  }

  return {
    take: (deltas) => {
      const passed: unknown[] = []
      for (const delta of deltas) {
        if (!isJsonObject(delta)) {
          passed.push(delta)
          continue
        }
        const call = callOf(delta)
        const name = nameIn(delta)
        // Some servers give a name in pieces, some give all of it with every delta.
        if (name !== call.name) call.name += name
        call.json = mergedDelta(call.json, delta)
        readOwner(call)
        if (call.owner === 'ours') {
          call.held = []
          continue
        }
        call.held.push(delta)
        // A call that was followed by another is complete.
        const ready = holds ? calls.slice(0, -1) : [call]
        for (const each of ready) if (each.owner === 'client') passed.push(...flushed(each))
      }
      const isSame = passed.length === deltas.length && passed.every((delta, at) => delta === deltas[at])
      return isSame ? deltas : passed
    },
    release: ({ dropsIncomplete }) =>
      calls.flatMap((call) => {
        if (call.owner === 'ours') return []
        if (dropsIncomplete && isIncomplete(call.json)) return []
        return flushed(call)
      }),
    all: () => calls.map(named),
    hasOurs: () => calls.some(({ owner }) => owner === 'ours'),
    isHolding: () => calls.some(({ held }) => held.length > 0),
  }
}

// --- internal ---

/** Some servers give every call the same index, and Gemini no ids either: what follows a complete call is another. */
function isAnother(known: Call, id: string, delta: JsonObject): boolean {
  if (id !== '' || known.id !== '') return id !== '' && known.id !== '' && known.id !== id
  const isBegun = nameIn(delta) !== '' && hasArguments(delta)
  return isBegun && hasArguments(known.json) && !isIncomplete(known.json)
}

/** The name in a delta, of a function or of a tool that takes free text. */
function nameIn({ function: called, custom }: JsonObject): string {
  const either = isJsonObject(called) ? called : custom
  return isJsonObject(either) ? stringOr(either['name'], '') : ''
}

function hasArguments({ function: called }: JsonObject): boolean {
  return isJsonObject(called) && stringOr(called['arguments'], '') !== ''
}

/** Some servers give a name in pieces. */
function named({ json, name }: Call): JsonObject {
  const called = json['function']
  return isJsonObject(called) && called['name'] !== name ? { ...json, function: { ...called, name } } : json
}

type Call = {
  readonly index: unknown
  id: string
  json: JsonObject
  /** As far as it was given. */
  name: string
  owner: 'unknown' | 'ours' | 'client'
  held: JsonObject[]
}
