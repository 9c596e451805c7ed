import { z } from 'zod'
import { withoutReminders } from '../../../conversation/reminders.ts'
import type { Steps } from '../../../conversation/source.ts'
import type { MadeCache } from '../../made-cache.ts'
import { readMessage } from '../../read-message.ts'
import { replyAt, type Subject } from '../../subject.ts'
import { lookedAt } from '../passage.ts'
import { directiveOf, type Directive } from './directive.ts'
import { languagesIn } from './forms/match.ts'
import { sentencesOf, type Sentence } from './sentences.ts'

/** A sentence of a user's message, and what it looks like. */
export type Heard = z.output<typeof heardSchema>

/** The text of a message, as far as a recap looks at it: what the client put between the user's words is not heard. */
export function* heardText(subject: Subject, index: number): Steps<string> {
  const message = subject.messages[index]
  return message === undefined ? '' : lookedAt(withoutReminders((yield* readMessage(subject, message)).text))
}

/** The text of the reply that message `index` is a part of, in the same way. */
export function* replyText(subject: Subject, index: number): Steps<string> {
  const { start, end } = replyAt(subject, index)
  const texts: string[] = []
  for (let part = start; part < end; part += 1) texts.push(yield* heardText(subject, part))
  return texts.filter((text) => text !== '').join('\n')
}

/** The sentences of a user's message, each judged. Found once for each message. */
export function* heardIn(
  subject: Subject,
  index: number,
  text: string,
  cache: MadeCache,
): Steps<readonly Heard[]> {
  const key = `heard:${subject.memorySpace}:${subject.messages[index]?.facts.hash}`
  const known = cache.get(key)?.text ?? null
  if (known !== null) return z.array(heardSchema).parse(JSON.parse(known))
  const sentences = sentencesOf(text)
  const written = sentences.map(({ start, end }) => text.slice(start, end)).join('\n')
  const around = languagesIn(written.slice(0, AROUND_CHARS))
  const judged: Judged[] = []
  for (const { start, end } of sentences) {
    judged.push({ start, end, ...directiveOf(text.slice(start, end), around) })
    yield
  }
  const heard = besideEachOther(judged, text)
  cache.set(key, { text: JSON.stringify(heard), tokens: 0, how: null })
  return heard
}

// --- internal ---

const heardSchema = z
  .object({
    start: z.int(),
    end: z.int(),
    score: z.number(),
    isCorrection: z.boolean(),
    /** Whether it asks something, or for an errand. */
    isAsking: z.boolean(),
  })
  .readonly()

/** So much of a message tells its language. */
const AROUND_CHARS = 2000

/** What a sentence gains by a neighbour that looks like a directive: "I hate semicolons. Leave them out." */
const NEIGHBOUR_SHARE = 0.25

/** What a line of a list gains by the line above the list. */
const HEADING_SHARE = 0.5

/** What a sentence of a paragraph loses where all others in there tell a story. */
const STORY = 1.5
const STORY_SENTENCES_MIN = 2

/** What a line loses that quotes somebody else. */
const QUOTED = 3

type Judged = Sentence & Directive

function besideEachOther(heard: readonly Judged[], text: string): Heard[] {
  let heading = 0
  const toldShares = toldSharesOf(heard, text)
  return heard.map((sentence, place) => {
    const { start, end, score } = sentence
    const isItem = itemBegin.test(text.slice(start, start + 8))
    if (!isItem) heading = /[:：]$/.test(text.slice(start, end)) ? Math.max(0, score) : 0
    const neighbours = [heard[place - 1], heard[place + 1]].map((other) => Math.max(0, other?.score ?? 0))
    const gain = Math.max(NEIGHBOUR_SHARE * Math.max(...neighbours), isItem ? HEADING_SHARE * heading : 0)
    const loss = (isQuoted.test(text.slice(start, start + 8)) ? QUOTED : 0) + STORY * (toldShares[place] ?? 0)
    const { isCorrection, isAsking } = sentence
    return { start, end, isCorrection, isAsking, score: Math.round((score + gain - loss) * 100) / 100 }
  })
}

/** For each sentence the share of the others in its paragraph that tell of what happened. */
function toldSharesOf(heard: readonly Judged[], text: string): number[] {
  const shares: number[] = []
  let paragraph: Judged[] = []
  for (const [place, sentence] of heard.entries()) {
    paragraph.push(sentence)
    const next = heard[place + 1]
    if (next !== undefined && !text.slice(sentence.end, next.start).includes('\n')) continue
    const told = paragraph.filter(({ isTold }) => isTold).length
    const others = paragraph.length - 1
    for (const { isTold } of paragraph)
      shares.push(others < STORY_SENTENCES_MIN ? 0 : (told - Number(isTold)) / others)
    paragraph = []
  }
  return shares
}

const isQuoted = /^\s*>/

const itemBegin = /^(?:[-*•–+]|\d{1,3}[.)])\s/
