import { isTooMuch, parseAnswerText } from '../../formats/answer-json.ts'
import type { Outcome } from '../request.ts'
import { holdBack } from '../send/judge.ts'

/** An answer with all of its body taken, or with as much as came in time before it broke off or grew larger than so many bytes. */
export async function readWhole(
  outcome: Outcome,
  bytesMax = BODY_BYTES_MAX,
  holdMs = ENDLESS_MS,
): Promise<Outcome> {
  const { pieces } = await holdBack(outcome.answer.body, { enough: () => false, holdMs, bytesMax })
  return { ...outcome, held: [...outcome.held, ...pieces] }
}

/** The parsed body of an answer that was read; undefined if it is not whole, or too much to be parsed. */
export function parsedBody({ answer, held }: Outcome): unknown {
  if (!answer.body.isEnded) return undefined
  // To put tens of megabytes together and to decode them takes tens of milliseconds. What tells whether they are too much is
  // ASCII, and mostly stands at their beginning.
  const bytes = held.reduce((sum, { length }) => sum + length, 0)
  if (bytes > DECODED_BYTES_MAX && isTooMuch(Buffer.concat(held, DECODED_BYTES_MAX).toString('latin1')))
    return undefined
  return parseAnswerText(Buffer.concat(held).toString('utf8'))
}

/** Headers, name and value by turns, of an answer whose body is not the one whose length and digest they state. */
export function withoutLength(rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 1 || ofTheBody.has(name.toLowerCase()) ? [] : [name, rawHeaders[at + 1] ?? ''],
  )
}

// --- internal ---

/** A larger answer is passed on as it comes. */
const BODY_BYTES_MAX = 32 * 1024 * 1024

/** A smaller one is decoded in a few milliseconds. */
const DECODED_BYTES_MAX = 4 * 1024 * 1024

/** The upstream's own silence ends an answer; here nothing does. */
const ENDLESS_MS = 2 ** 31 - 1

const ofTheBody: ReadonlySet<string> = new Set(['content-length', 'content-md5', 'digest', 'etag'])
