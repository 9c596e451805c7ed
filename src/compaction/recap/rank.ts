import { parseMessage } from '../../conversation/parse.ts'
import type { Steps } from '../../conversation/source.ts'
import type { Subject } from '../subject.ts'
import { thingsIn } from './things.ts'

/** A specific thing with the words around its latest mention. */
export type RankedThing = { readonly name: string; readonly words: string }

/** The specific things that these messages name, the most recently and most often used first. */
export function* rankThings(subject: Subject, indexes: readonly number[]): Steps<RankedThing[]> {
  const found = new Map<string, Mention>()
  for (const [position, index] of indexes.entries()) {
    const message = subject.messages[index]
    if (message === undefined) continue
    const { text, calls } = parseMessage(subject.source, message)
    for (const piece of [text, ...calls.map((call) => call.argumentsText)]) {
      for (const thing of thingsIn(piece)) {
        const mention = found.get(thing.name)
        if (mention === undefined) {
          if (found.size >= THINGS_MAX) continue
          found.set(thing.name, {
            messages: 1,
            latest: position,
            words: around(piece, thing.start, thing.end),
          })
        } else if (mention.latest !== position) {
          mention.messages += 1
          mention.latest = position
          mention.words = around(piece, thing.start, thing.end)
        }
      }
    }
    yield
  }
  const score = (mention: Mention): number =>
    mention.latest / indexes.length + Math.log2(mention.messages + 1) * FREQUENCY_WEIGHT
  return [...found]
    .map(([name, mention]) => ({ name, words: mention.words, score: score(mention) }))
    .sort((a, b) => b.score - a.score)
    .map(({ name, words }) => ({ name, words }))
}

// --- internal ---

type Mention = { messages: number; latest: number; words: string }

/** Beyond so many distinct names, further ones are not looked at: a recap holds a few hundred. */
const THINGS_MAX = 20_000

/** How many doublings of use weigh as much as standing at the end instead of the beginning. */
const FREQUENCY_WEIGHT = 0.4

const AROUND_CHARS = 60

/** The line in which something stands, cut to a few words on either side. */
function around(text: string, start: number, end: number): string {
  const from = Math.max(text.lastIndexOf('\n', start - 1) + 1, start - AROUND_CHARS)
  const lineEnd = text.indexOf('\n', end)
  const to = Math.min(lineEnd === -1 ? text.length : lineEnd, end + AROUND_CHARS)
  return text.slice(from, to).replace(/\s+/g, ' ').trim()
}
