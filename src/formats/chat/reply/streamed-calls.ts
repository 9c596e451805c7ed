import { isJsonObject, stringOr, type JsonObject } from '../../../json/json-value.ts'
import { countBelow } from '../../../conversation/count-below.ts'
import type { CallRules } from '../../answer-contract.ts'
import { isIncomplete } from './reply.ts'
import { addDelta, type Growing } from './merged-delta.ts'

/** The calls of a streamed reply, as their deltas come in. */
export type StreamedCalls = ReturnType<typeof createStreamedCalls>

/**
 * Tells Foldgate's own calls from the client's: deltas are held until their call is named, own ones go no further, and
 * the client's are numbered as if there were no others, and held until they are complete if a reply that was cut may go on.
 */
export function createStreamedCalls({ toolName, continues: holds }: CallRules) {
  const calls: Call[] = []
  /** The latest call of each index. */
  const byIndex = new Map<unknown, Call>()
  /** The places of Foldgate's own, in ascending order. */
  const ours: number[] = []
  let holding = 0

  function callOf(delta: JsonObject): Call {
    const index = delta['index']
    const id = stringOr(delta['id'], '')
    const known = index === undefined ? calls.at(-1) : byIndex.get(index)
    if (known !== undefined && !isAnother(known, id, delta)) {
      if (known.id === '') known.id = id
      return known
    }
    const call: Call = {
      place: calls.length,
      id,
      json: {},
      name: '',
      owner: 'unknown',
      held: [],
      given: openJsonEnd(),
    }
    calls.push(call)
    byIndex.set(index, call)
    return call
  }

  function readOwner(call: Call): void {
    if (call.owner !== 'unknown') return
    if (call.name === toolName) {
      call.owner = 'ours'
      ours.splice(countBelow(ours, call.place), 0, call.place)
    }
    // No name goes on once there are arguments.
    else if (toolName === null || !toolName.startsWith(call.name) || argumentsIn(call.json) !== '')
      call.owner = 'client'
  }

  function numbered(call: Call, delta: JsonObject): JsonObject {
    const before = countBelow(ours, call.place)
    const { index } = delta
    return before === 0 || typeof index !== 'number'
      ? delta
      : { ...delta, index: Math.max(0, index - before) }
  }

  function hold(call: Call, held: JsonObject[]): void {
    holding += Number(held.length > 0) - Number(call.held.length > 0)
    call.held = held
  }

  /** What was held of a call, as one delta: clients that add up deltas take one of each call in a chunk. */
  function flushed(call: Call): JsonObject[] {
    const [only, ...more] = call.held
    hold(call, [])
    if (only === undefined) return []
    // Held are all of its deltas or the latest: of several, all.
    return [numbered(call, more.length === 0 ? only : named(call))]
  }

  /** The calls that may go on after a delta of this one: one that was followed by another is complete. */
  function readyAfter(call: Call, callsBefore: number): readonly (Call | undefined)[] {
    if (!holds) return [call]
    if (calls.length > callsBefore) return [calls.at(-2)]
    return call === calls.at(-1) ? [] : [call]
  }

  return {
    /** Takes the deltas of one chunk; returns those that the client gets now, which may be the very same. */
    take: (deltas: readonly unknown[]) => {
      const passed: unknown[] = []
      for (const delta of deltas) {
        if (!isJsonObject(delta)) {
          passed.push(delta)
          continue
        }
        const callsBefore = calls.length
        const call = callOf(delta)
        const name = nameIn(delta)
        // Some servers give a name in pieces, some give all of it with every delta.
        if (name !== call.name) call.name += name
        addDelta(call.json, delta)
        call.given.feed(argumentsIn(delta))
        readOwner(call)
        if (call.owner === 'ours') hold(call, [])
        else if (call.held.length > 0) call.held.push(delta)
        else hold(call, [delta])
        for (const each of readyAfter(call, callsBefore))
          if (each?.owner === 'client') passed.push(...flushed(each))
      }
      const isSame = passed.length === deltas.length && passed.every((delta, at) => delta === deltas[at])
      return isSame ? deltas : passed
    },
    /** What was held back of the client's calls and goes on in the end; those that were cut are left out on demand. */
    release: ({ dropsIncomplete }: { readonly dropsIncomplete: boolean }) =>
      calls.flatMap((call) => {
        if (call.owner === 'ours') return []
        if (dropsIncomplete && isIncomplete(call.json)) return []
        return flushed(call)
      }),
    /** All calls, each as its deltas add up. */
    all: () => calls.map(named),
    hasOurs: () => ours.length > 0,
    /** Whether anything of the client's calls is held back. */
    isHolding: () => holding > 0,
    /** Whether these are more than any reply has. */
    areTooMany: () => calls.length > CALLS_MAX,
  }
}

// --- internal ---

/** Some servers give every call the same index, and Gemini no ids either: what follows a complete call is another. */
function isAnother(known: Call, id: string, delta: JsonObject): boolean {
  if (id !== '' || known.id !== '') return id !== '' && known.id !== '' && known.id !== id
  return nameIn(delta) !== '' && argumentsIn(delta) !== '' && known.given.isOver()
}

/** The name in a delta, of a function or of a tool that takes free text. */
function nameIn({ function: called, custom }: JsonObject): string {
  const either = isJsonObject(called) ? called : custom
  return isJsonObject(either) ? stringOr(either['name'], '') : ''
}

function argumentsIn({ function: called }: JsonObject): string {
  return isJsonObject(called) ? stringOr(called['arguments'], '') : ''
}

/** Follows a text that comes in pieces: whether a first object in it is over. What a piece takes does not depend on those before. */
function openJsonEnd() {
  let depth = 0
  let isOver = false
  let isText = false
  let isEscaped = false
  return {
    feed: (piece: string): void => {
      for (const character of piece) {
        if (isEscaped) isEscaped = false
        else if (isText) {
          isEscaped = character === '\\'
          isText = character !== '"'
        } else if (character === '"') isText = true
        else if (character === '{' || character === '[') depth += 1
        else if (character === '}' || character === ']') {
          depth -= 1
          isOver ||= depth === 0
        }
      }
    },
    isOver: () => isOver,
  }
}

/** Of more nothing is held or told apart: models call a handful of tools at a time. */
const CALLS_MAX = 1_000

/** Some servers give a name in pieces. */
function named({ json, name }: Call): JsonObject {
  const called = json['function']
  return isJsonObject(called) && called['name'] !== name ? { ...json, function: { ...called, name } } : json
}

type Call = {
  readonly place: number
  id: string
  readonly json: Growing
  /** As far as it was given. */
  name: string
  owner: 'unknown' | 'ours' | 'client'
  /** Its arguments, as they come. */
  readonly given: ReturnType<typeof openJsonEnd>
  held: JsonObject[]
}
