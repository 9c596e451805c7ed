import type { Steps } from '../../conversation/source.ts'
import { readMessage } from '../../subject/read-message.ts'
import { replyStart, type Subject } from '../../subject/subject.ts'
import { argumentLines } from '../../subject/looked-at.ts'
import { harmless, inLabel } from './headings.ts'

export type DiaryOptions = {
  /** The messages that are told, ascending. */
  readonly indexes: readonly number[]
  readonly tokensMax: number
  /** By which name a message can be read back; null if none has one. */
  readonly nameOf: (index: number) => string | null
}

/**
 * What the agent said and did, a line for each of its replies, oldest first: the beginning of its words, an arrow, and its
 * calls. The newest lines are the longest; those that no room is left for are left out.
 */
export function* diaryLines(subject: Subject, options: DiaryOptions): Steps<readonly string[]> {
  const lines: string[] = []
  const seen = new Set<string>()
  let left = options.tokensMax
  const replies = repliesAmong(subject, options.indexes)
  for (const [age, reply] of replies.toReversed().entries()) {
    const share = Math.max(LEAST_SHARE, 1 / (1 + age / HALF_LENGTH_REPLIES))
    const name = options.nameOf(reply[0] ?? 0)
    const told = yield* lineOf(subject, reply, share)
    // Of what was said or done again in the same words the newest counts.
    if (told === '' || seen.has(told)) continue
    seen.add(told)
    const line = `- ${name === null ? '' : `${name}: `}${told}`
    left -= yield* subject.countSteps(`\n${line}`)
    if (left < 0) break
    lines.push(line)
  }
  return lines.toReversed()
}

// --- internal ---

const SAID_CHARS = 240
const CALLED_CHARS = 180

/** So many replies before the newest, a line is half as long. */
const HALF_LENGTH_REPLIES = 6

/** No line is shorter than this share of the newest: what is less tells nothing. */
const LEAST_SHARE = 0.5

/** The messages of each reply, ascending; what is no reply's is left out. */
function repliesAmong(subject: Subject, indexes: readonly number[]): readonly (readonly number[])[] {
  const own = indexes.filter((index) => subject.messages[index]?.facts.role === 'assistant')
  return [...Map.groupBy(own, (index) => replyStart(subject, index)).values()]
}

function* lineOf(subject: Subject, reply: readonly number[], share: number): Steps<string> {
  const said: string[] = []
  const called: string[] = []
  for (const index of reply) {
    const message = subject.messages[index]
    if (message === undefined) continue
    const { text, calls } = yield* readMessage(subject, message)
    if (text.trim() !== '') said.push(text.slice(0, 2 * SAID_CHARS))
    const charsMax = Math.floor((CALLED_CHARS * share) / Math.max(1, Math.min(calls.length, CALLS_TOLD)))
    for (const { name, argumentsText } of calls.slice(0, CALLS_TOLD)) {
      const given = inLine(yield* argumentLines(argumentsText, 'what-stays'), charsMax)
      called.push(`${inLabel(name)} ${given}`)
    }
    if (calls.length > CALLS_TOLD) called.push(`${calls.length - CALLS_TOLD} more calls`)
    yield
  }
  const words = inLine(said.join(' '), Math.floor(SAID_CHARS * share))
  return [words, called.join('; ')].filter((part) => part !== '').join(' → ')
}

/** Of a reply with more calls than this the others are told by their number. */
const CALLS_TOLD = 4

/** A text in one line, cut to so many characters. */
export function inLine(text: string, charsMax: number): string {
  const line = text
    .slice(0, 2 * charsMax)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return harmless(line.length <= charsMax ? line : `${line.slice(0, charsMax)}…`)
}
