import { callsOf, isObject, textOf, type WireMessage } from '../../support/strict-upstream/wire-message.ts'
import type { RawMessage } from '../harness/recordings.ts'
import type { Tally } from './figures.ts'
import { textsIn } from './wanted.ts'

// What an edit replaces has to be quoted exactly, and what it has replaced is no state to go by. Both are told from the
// calls of the recordings alone, apart from the rules by which the product tells what a call deals with.

/** Of the exact texts that the next message replaces and the conversation holds whole, those that stand in the view. */
export function quotesHeld(
  next: WireMessage,
  client: readonly RawMessage[],
  received: readonly RawMessage[],
): Pick<Tally, 'quotes' | 'quotesHeld'> {
  const wanted = replacementsIn(next).map(({ old }) => old)
  if (wanted.length === 0) return { quotes: 0, quotesHeld: 0 }
  const [history, view] = [client, received].map((messages) =>
    messages.flatMap(({ message }) => textsIn(message)).join('\n'),
  )
  const held = wanted.filter((old) => history?.includes(old) === true)
  return { quotes: held.length, quotesHeld: held.filter((old) => view?.includes(old) === true).length }
}

/**
 * Lines that a recap quotes from results although a later edit has replaced them, and nothing has shown them since. What the
 * agent itself wrote is no state of a file.
 */
export function staleLines(client: readonly RawMessage[], received: readonly RawMessage[]): number {
  const quoted = received.flatMap(({ message }) => quotedFromResults(textOf(message['content'])))
  if (quoted.length === 0) return 0
  const replaced = new Set<string>()
  for (const { message } of client) {
    const isResult = message['role'] === 'tool'
    if (isResult) for (const line of linesOf(textOf(message['content']))) replaced.delete(line)
    for (const { old, fresh } of replacementsIn(message)) {
      const kept = new Set(linesOf(fresh))
      for (const line of linesOf(old)) if (!kept.has(line)) replaced.add(line)
    }
  }
  return quoted.filter((line) => replaced.has(line)).length
}

/** Shorter texts and lines stand everywhere. */
const TELLING_CHARS_MIN = 16

type Replacement = { readonly old: string; readonly fresh: string }

/** What the calls of a message replace by what: arguments for the old text and the new, and plain substitutions of sed. */
function replacementsIn(message: WireMessage): readonly Replacement[] {
  return callsOf(message).flatMap(({ argumentsText }) => {
    const given = parsed(argumentsText)
    const texts = Object.entries(given).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    )
    const old = texts.find(([key]) => /^old|^search/i.test(key))?.[1]
    const fresh = texts.find(([key]) => /^new|^replace/i.test(key))?.[1]
    const edits = old === undefined ? [] : [{ old, fresh: fresh ?? '' }]
    const byCommand = texts.flatMap(([, text]) =>
      [...text.matchAll(/sed -i (["'])s([/|#])(.+?)\2(.*?)\2g?\1/g)].map(([, , , from = '', to = '']) => ({
        old: from.replaceAll(/\\(.)/g, '$1'),
        fresh: to,
      })),
    )
    return [...edits, ...byCommand].filter(({ old: text }) => text.trim().length >= TELLING_CHARS_MIN)
  })
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** Lines without what numbers them. */
function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*\d+[\t:|]/, '').trim())
    .filter((line) => line.length >= TELLING_CHARS_MIN)
}

function quotedFromResults(text: string): readonly string[] {
  if (!text.startsWith('<conversation-recap>')) return []
  return text
    .split(/\n(?=\[(?:to |from |user|assistant))/)
    .flatMap((block) => (block.startsWith('[from ') ? linesOf(block) : []))
}
