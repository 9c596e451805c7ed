import { isJsonObject, type JsonObject, parseJsonText, stringOr } from '../../../json/json-value.ts'
import type { Move, Part, AnswerParts } from '../../reply-wire.ts'
import { addDelta, type Growing } from './merged-delta.ts'

/** Tells the calls of a streamed reply from each other, by their deltas, and Foldgate's own from the client's. */
export function createCallReader(parts: AnswerParts, toolName: string | null) {
  /** The latest call of each index. */
  const byIndex = new Map<unknown, Call>()
  let latest: Call | undefined

  function callOf(delta: JsonObject): { readonly call: Call; readonly isNew: boolean } {
    const index = delta['index']
    const id = stringOr(delta['id'], '')
    const known = index === undefined ? latest : byIndex.get(index)
    if (known !== undefined && !isAnother(known, id, delta)) {
      if (known.id === '') known.id = id
      return { call: known, isNew: false }
    }
    const json: Growing = {}
    const isOurs = toolName === null ? false : null
    const part = parts.add('call', json, { index: typeof index === 'number' ? index + 1 : index, isOurs })
    latest = { id, json, name: '', part }
    byIndex.set(index, latest)
    return { call: latest, isNew: true }
  }

  /** Whose call it is: no name goes on once there are arguments. */
  function decide({ part, name, json }: Call): void {
    if (part.fate !== 'waiting' || toolName === null) return
    if (name === toolName) parts.decide(part, true)
    else if (!toolName.startsWith(name) || argumentsIn(json) !== '') parts.decide(part, false)
  }

  return {
    /** Takes the deltas of one chunk. */
    take: (deltas: readonly JsonObject[], chunk: JsonObject): readonly Move[] =>
      deltas.map((delta) => {
        const { call, isNew } = callOf(delta)
        const name = nameIn(delta)
        // Some servers give a name in pieces, some give all of it with every delta.
        if (name !== call.name) call.name += name
        const { index: _index, ...said } = delta
        addDelta(call.json, said)
        const called = call.json['function']
        if (isJsonObject(called)) call.json['function'] = Object.assign(called, { name: call.name })
        decide(call)
        return { kind: isNew ? 'begin' : 'more', part: call.part, json: chunk, piece: delta }
      }),
  }
}

/** The name in a delta, of a function or of a tool that takes free text. */
export function nameIn({ function: called, custom }: JsonObject): string {
  const either = isJsonObject(called) ? called : custom
  return isJsonObject(either) ? stringOr(either['name'], '') : ''
}

/** Whether a call's arguments end in the middle. Of a tool with free text nobody can say. */
export function isIncompleteCall({ function: called }: JsonObject): boolean {
  if (!isJsonObject(called)) return false
  const given = called['arguments'] ?? ''
  return typeof given === 'string' && !isJsonObject(parseJsonText(given))
}

// --- internal ---

type Call = {
  id: string
  readonly json: Growing
  /** As far as it was given. */
  name: string
  readonly part: Part
}

/** Some servers give every call the same index, and Gemini no ids either, but each call whole: what follows is another. */
function isAnother(known: Call, id: string, delta: JsonObject): boolean {
  if (id !== '' || known.id !== '') return id !== '' && known.id !== '' && known.id !== id
  return nameIn(delta) !== '' && argumentsIn(delta) !== '' && !isIncompleteCall(known.json)
}

function argumentsIn({ function: called }: JsonObject): string {
  return isJsonObject(called) ? stringOr(called['arguments'], '') : ''
}
