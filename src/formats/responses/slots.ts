import { elementsIn, entriesIn } from '../../json/json-scan.ts'
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from '../../json/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'
import type { Source, Span, Pausable } from '../../json/source.ts'
import type { TextPart } from '../content/content-parts.ts'
import {
  argumentSlots,
  contentSlots,
  edited,
  firstOf,
  foundSlots,
  LONG_TEXT_BYTES,
  stringSlots,
  valueIn,
  valueOf,
  withoutMedia,
} from '../content/slots.ts'
import type { Slot } from '../contract.ts'
import { callForms, foundKeys, isBound, isShellOutput, kindOf } from './item-kinds.ts'

/** The slots of an item: the text of a message or an output, the arguments of a call, thoughts that are plain text, what the server found. */
export function* itemSlots(source: Source, item: Span, parsed: ParsedMessage): Pausable<readonly Slot[]> {
  if (firstOf(source, item) === '"') return contentSlots('text', source, item, parsed.text)
  const value = parseJson(source, item)
  yield
  if (!isJsonObject(value)) return []
  const fields = entriesIn(source, item) ?? []
  yield
  const at = (key: string): Span | null => valueOf(source, fields, key)
  const kind = kindOf(value)
  if (kind === 'message') return contentSlots('text', source, at('content'), parsed.text)
  if (kind === 'result') return contentSlots('result', source, at('output'), parsed.text)
  if (kind === 'thought') return isBound(value) ? [] : thoughtSlots(source, at('content'))
  if (kind === 'call') return callSlots(source, value, at, parsed.calls[0]?.argumentsText ?? '')
  if (kind !== 'done') return []
  const { text, lists, parts } = foundKeys
  return yield* foundSlots(source, [at(text)], lists.map(at), parts)
}

/** An item with other texts in some of its slots; everything else keeps its bytes. */
export function* editedItem(
  source: Source,
  item: Span,
  texts: ReadonlyMap<Slot, string>,
  mediaKept: number,
): Pausable<string> {
  const others = new Map(texts)
  for (const [slot, text] of texts) {
    const [at] = slot.spans
    const shell = at === undefined || slot.kind !== 'result' ? null : shellOutput(source, at, text)
    if (shell === null) continue
    others.delete(slot)
    others.set({ ...slot, writtenAs: 'json' }, shell)
  }
  return yield* edited(source, item, others, mediaKept, textPartOf(source, item))
}

/** An item with its last `kept` media, and a mark where the first of the others stood; null if nothing goes. */
export function* withoutItemMedia(
  source: Source,
  item: Span,
  kept: number,
  mark: string,
): Pausable<{ readonly json: string; readonly text: string } | null> {
  if (firstOf(source, item) !== '{') return null
  const parts = valueIn(source, item, 'output') ?? valueIn(source, item, 'content')
  return yield* withoutMedia(source, item, parts, kept, mark, textPartOf(source, item))
}

export const inputTextPart: TextPart = (text) => `{"type":"input_text","text":${text}}`

// --- internal ---

const outputTextPart: TextPart = (text) => `{"type":"output_text","text":${text},"annotations":[]}`

/** How a text stands among the parts of this item: a server refuses a reply whose text is spelt as an input, and the other way round. */
function textPartOf(source: Source, item: Span): TextPart {
  const role = valueIn(source, item, 'role')
  return role !== null && parseJson(source, role) === 'assistant' ? outputTextPart : inputTextPart
}

function callSlots(
  source: Source,
  { type }: JsonObject,
  at: (key: string) => Span | null,
  text: string,
): readonly Slot[] {
  const { argumentsKey = '' } = callForms[String(type)] ?? {}
  const given = at(argumentsKey)
  const isJson = argumentsKey === 'arguments'
  // The server takes an action of another form for none.
  const isAction = given !== null && !isJson && firstOf(source, given) !== '"'
  return isAction ? longTextsIn(source, given, LEVELS_MAX) : argumentSlots(source, given, text, isJson)
}

/** What of an action is long: a command, a patch. */
function longTextsIn(source: Source, at: Span, levels: number): readonly Slot[] {
  const values =
    levels === 0 || firstOf(source, at) === '"'
      ? []
      : (elementsIn(source, at) ?? (entriesIn(source, at) ?? []).map(({ value }) => value))
  return [
    ...stringSlots('arguments', source, at, LONG_TEXT_BYTES),
    ...values.flatMap((value) => longTextsIn(source, value, levels - 1)),
  ]
}

/** `{"commands":["…"]}`, and no more: an action is two levels deep. */
const LEVELS_MAX = 2

/** Open models' servers write thoughts as parts with a text. */
function thoughtSlots(source: Source, content: Span | null): readonly Slot[] {
  const parts = content === null ? [] : (elementsIn(source, content) ?? [])
  return parts.flatMap((part) => stringSlots('thought', source, valueIn(source, part, 'text')))
}

/** What a shell printed as one piece with this text; how its last command ended stays. Null if that is no output of a shell. */
function shellOutput(source: Source, at: Span, text: string): string | null {
  const output = firstOf(source, at) === '[' ? parseJson(source, at) : null
  if (!isShellOutput(output)) return null
  return stringifyJson([{ ...output.at(-1), stdout: text, stderr: '' }])
}
