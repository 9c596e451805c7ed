import type { Steps } from '../../../conversation/source.ts'
import { parseJsonText } from '../../../conversation/json-value.ts'
import type { MadeCache } from '../../made-cache.ts'
import { readMessage } from '../../read-message.ts'
import type { Subject } from '../../subject.ts'
import { lookedAt } from '../passage.ts'
import { directiveOf, type Directive } from './directive.ts'
import { languagesIn } from './forms/match.ts'
import { sentencesOf, type Sentence } from './sentences.ts'

/** A sentence of a user's message, and what it looks like. */
export type Heard = {
  readonly start: number
  readonly end: number
  readonly score: number
  readonly isCorrection: boolean
  /** Whether it asks something, or for an errand. */
  readonly isAsking: boolean
}

/** The text of a message, as far as a recap looks at it. */
export function* textOf(subject: Subject, index: number): Steps<string> {
  const message = subject.messages[index]
  return message === undefined ? '' : lookedAt((yield* readMessage(subject, message)).text)
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
  if (known !== null) return readHeard(known)
  const sentences = sentencesOf(text)
  const written = sentences.map(({ start, end }) => text.slice(start, end)).join('\n')
  const around = languagesIn(written.slice(0, AROUND_CHARS))
  const judged: Judged[] = []
  for (const { start, end } of sentences) {
    judged.push({ start, end, ...directiveOf(text.slice(start, end), around) })
    if (judged.length % SENTENCES_PER_STEP === 0) yield
  }
  const heard = besideEachOther(judged, text)
  const fields = heard.map(({ start, end, score, isCorrection, isAsking }) => [
    start,
    end,
    score,
    Number(isCorrection),
    Number(isAsking),
  ])
  cache.set(key, { text: JSON.stringify(fields), tokens: 0, how: null })
  return heard
}

// --- internal ---

const SENTENCES_PER_STEP = 32

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
  const paragraphs = heard.map(() => 0)
  for (const [place, { start }] of heard.entries()) {
    const before = heard[place - 1]
    const isSame = before !== undefined && !text.slice(before.end, start).includes('\n')
    paragraphs[place] = (paragraphs[place - 1] ?? 0) + (isSame ? 0 : 1)
  }
  const sums = new Map<number, { all: number; told: number }>()
  for (const [place, { isTold }] of heard.entries()) {
    const sum = sums.get(paragraphs[place] ?? 0) ?? { all: 0, told: 0 }
    sums.set(paragraphs[place] ?? 0, { all: sum.all + 1, told: sum.told + Number(isTold) })
  }
  return heard.map(({ isTold }, place) => {
    const { all, told } = sums.get(paragraphs[place] ?? 0) ?? { all: 0, told: 0 }
    return all - 1 < STORY_SENTENCES_MIN ? 0 : (told - Number(isTold)) / (all - 1)
  })
}

const isQuoted = /^\s*>/

const itemBegin = /^(?:[-*•–+]|\d{1,3}[.)])\s/

/** What `heardIn` put into the cache. */
function readHeard(json: string): Heard[] {
  const rows = parseJsonText(json)
  if (!Array.isArray(rows)) return []
  return rows.flatMap((row: unknown) =>
    Array.isArray(row)
      ? [
          {
            start: Number(row[0]),
            end: Number(row[1]),
            score: Number(row[2]),
            isCorrection: row[3] === 1,
            isAsking: row[4] === 1,
          },
        ]
      : [],
  )
}
