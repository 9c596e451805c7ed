import type { EntrySpans } from '../../json/json-scan.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../json/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'
import type { Source, Span, Steps } from '../../json/source.ts'
import { elementsIn, entriesIn } from '../../json/spans-in.ts'
import { edited, firstOf, valueIn, valueOf, withoutMedia } from '../content/slot-edits.ts'
import type { Slot } from '../contract.ts'
import { callForms } from './calls.ts'
import { isBound, kindOf } from './item-kinds.ts'
import { foundKeys, isShellOutput } from './outputs.ts'
import { textPartOf } from './text-part.ts'

/** The slots of an item: the text of a message or an output, the arguments of a call, thoughts that are plain text, what the server found. */
export function* itemSlots(source: Source, item: Span, parsed: ParsedMessage): Steps<readonly Slot[]> {
  if (firstOf(source, item) === '"') return [textSlot('text', source, item, parsed.text)]
  const value = parseJson(source, item)
  yield
  if (!isJsonObject(value)) return []
  const fields = entriesIn(source, item) ?? []
  yield
  const kind = kindOf(value)
  if (kind === 'thought')
    return isBound(value) ? [] : thoughtSlots(source, valueOf(source, fields, 'content'))
  if (kind === 'call') return argumentSlots(source, value, fields, parsed)
  if (kind === 'done') return yield* foundSlots(source, fields)
  if (kind !== 'message' && kind !== 'result') return []
  const content = valueOf(source, fields, kind === 'message' ? 'content' : 'output')
  if (content === null || !/^["[]$/.test(firstOf(source, content))) return []
  return [textSlot(kind === 'result' ? 'result' : 'text', source, content, parsed.text)]
}

/** An item with other texts in some of its slots; everything else keeps its bytes. */
export function* editedItem(
  source: Source,
  item: Span,
  texts: ReadonlyMap<Slot, string>,
  mediaKept: number,
): Steps<string> {
  const others = new Map(texts)
  for (const [slot, text] of texts) {
    const [at] = slot.spans
    const shell = at === undefined || slot.kind !== 'result' ? null : shellOutput(source, at, text)
    if (shell === null) continue
    others.delete(slot)
    const made: Slot = { ...slot, writtenAs: 'json' }
    others.set(made, shell)
  }
  return yield* edited(source, item, others, mediaKept, textPartOf(source, item))
}

/** An item with its last `kept` media, and a mark where the first of the others stood; null if nothing goes. */
export function* withoutItemMedia(
  source: Source,
  item: Span,
  kept: number,
  mark: string,
): Steps<{ readonly json: string; readonly text: string } | null> {
  if (firstOf(source, item) !== '{') return null
  const parts = valueIn(source, item, 'output') ?? valueIn(source, item, 'content')
  return yield* withoutMedia(source, item, parts, kept, mark, textPartOf(source, item))
}

// --- internal ---

function textSlot(kind: 'text' | 'result', source: Source, at: Span, text: string): Slot {
  const writtenAs = firstOf(source, at) === '"' ? 'string' : 'part'
  return { kind, text, isJson: false, spans: [at], writtenAs }
}

function argumentSlots(
  source: Source,
  item: JsonObject,
  fields: readonly EntrySpans[],
  { calls }: ParsedMessage,
): readonly Slot[] {
  const form = callForms[String(item['type'])]
  const at = form === undefined ? null : valueOf(source, fields, form.argumentsKey)
  const [call] = calls
  if (form === undefined || at === null || call === undefined) return []
  const isString = firstOf(source, at) === '"'
  if (!isString && form.argumentsKey !== 'arguments') return longTextsIn(source, at, LEVELS_MAX, 'arguments')
  return [
    {
      kind: 'arguments',
      text: call.argumentsText,
      isJson: !isString || form.argumentsKey === 'arguments',
      spans: [at],
      writtenAs: isString ? 'string' : 'json',
    },
  ]
}

/** What of an action is long: a command, a patch. The server takes an action of another form for none. */
function longTextsIn(source: Source, at: Span, levels: number, kind: Slot['kind']): readonly Slot[] {
  if (firstOf(source, at) === '"') {
    const text = at.end - at.start < LONG_TEXT_BYTES ? null : parseJson(source, at)
    return typeof text === 'string' ? [{ kind, text, isJson: false, spans: [at], writtenAs: 'string' }] : []
  }
  if (levels === 0) return []
  const values = elementsIn(source, at) ?? (entriesIn(source, at) ?? []).map(({ value }) => value)
  return values.flatMap((value) => longTextsIn(source, value, levels - 1, kind))
}

/** Parts that are read between two pauses. */
const PARTS_PER_STEP = 256

/** What the server's own work came out as. It is nobody's words, so that it is cut with what is only thought. */
function* foundSlots(source: Source, fields: readonly EntrySpans[]): Steps<readonly Slot[]> {
  const found = [valueOf(source, fields, foundKeys.text)]
  for (const key of foundKeys.lists) {
    const list = valueOf(source, fields, key)
    for (const [place, part] of (list === null ? [] : (elementsIn(source, list) ?? [])).entries()) {
      if (place % PARTS_PER_STEP === PARTS_PER_STEP - 1) yield
      const entries = entriesIn(source, part) ?? []
      for (const each of foundKeys.parts) found.push(valueOf(source, entries, each))
    }
  }
  return found.filter((at) => at !== null).flatMap((at) => longTextsIn(source, at, 0, 'thought'))
}

/** `{"commands":["…"]}`, and no more: an action is two levels deep. */
const LEVELS_MAX = 2

/** Shorter ones are names and paths, in bytes. */
const LONG_TEXT_BYTES = 256

/** Open models' servers write thoughts as parts with a text. */
function thoughtSlots(source: Source, content: Span | null): readonly Slot[] {
  if (content === null || firstOf(source, content) !== '[') return []
  return (elementsIn(source, content) ?? []).flatMap((part): Slot[] => {
    const at = firstOf(source, part) === '{' ? valueIn(source, part, 'text') : null
    const text: unknown = at === null ? null : parseJson(source, at)
    if (at === null || typeof text !== 'string') return []
    return [{ kind: 'thought', text, isJson: false, spans: [at], writtenAs: 'string' }]
  })
}

/** What a shell printed as one piece with this text; how its last command ended stays. Null if that is no output of a shell. */
function shellOutput(source: Source, at: Span, text: string): string | null {
  const output = firstOf(source, at) === '[' ? parseJson(source, at) : null
  if (!isShellOutput(output)) return null
  return stringifyJson([{ ...output.at(-1), stdout: text, stderr: '' }])
}
