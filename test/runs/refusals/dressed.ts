import { readFileSync } from 'node:fs'
import { overflowSignatures, readSignature, refusals, vetoes } from '../../../src/overflow/classify-error.ts'
import { recordsIn } from '../../overflow/records.ts'
import { classifyAnswer } from '../../support/chat-completions.ts'
import { dressedRefusals, type PlainRefusal } from './dressings.ts'
import type { RecordedAnswer } from './expected.ts'
import { madeUpHalves } from './made-up.ts'

/** What became of refusals that were dressed: texts of those that were not read right. */
export type JudgedDressed = {
  readonly overflows: number
  readonly missed: readonly string[]
  readonly lookAlikes: number
  readonly mistaken: readonly string[]
  /** Windows that nobody has stated. */
  readonly falseWindows: readonly string[]
}

/** The wordings of servers that stand in the project, and what only looks like one. */
export const knownRefusals: readonly PlainRefusal[] = [
  ...overflowSignatures.map((signature) => ({
    name: signature.provider,
    message: signature.sample,
    isOverflow: true,
    windowTokens: readSignature(signature.sample, [signature])?.window?.tokens ?? null,
  })),
  ...recordsIn('wordings.jsonl', readWording),
  ...[...vetoes, ...refusals].map(({ provider, sample }) => ({
    name: provider,
    message: sample,
    isOverflow: false,
    windowTokens: null,
  })),
]

/** Wordings that nobody has listed. */
export const madeUpRefusals: readonly PlainRefusal[] = madeUpHalves.flatMap(({ name, all }) =>
  all.map(({ text, isOverflow, window = null }) => ({
    name,
    message: text,
    isOverflow,
    windowTokens: window,
  })),
)

/** The messages of recorded answers: those that say something, and are not refused by their status alone. */
export function recordedRefusals(file: string): readonly PlainRefusal[] {
  const recorded: readonly RecordedAnswer[] = JSON.parse(readFileSync(file, 'utf8'))
  return recorded.flatMap(({ name, status, body, is_overflow: isOverflow, window = null }) => {
    const message = messageIn(body)
    if (message === null || message.length < WORDS_MIN || byStatus.has(status) || message === FULL_POOL)
      return []
    // What only a code tells is lost with it; an output limit beyond the window states the window, and is none of both.
    if (isOverflow ? classOf(message) !== 'overflow' : window !== null) return []
    return [{ name, message, isOverflow, windowTokens: window !== null && window < 1_024 ? null : window }]
  })
}

export function judgeDressed(plain: readonly PlainRefusal[], seed: number, count: number): JudgedDressed {
  const missed: string[] = []
  const mistaken: string[] = []
  const falseWindows: string[] = []
  const [overflows, lookAlikes] = [true, false].map((isOverflow) =>
    dressedRefusals(
      plain.filter((each) => each.isOverflow === isOverflow),
      seed,
      count,
    ),
  )
  for (const { of, answer } of [...(overflows ?? []), ...(lookAlikes ?? [])]) {
    const read = classifyAnswer(answer)
    const isRead = read.class === 'overflow' || (read.class === 'output_too_large' && read.window !== null)
    const text = `${of.name}: ${answer.body}`
    if (of.isOverflow && !isRead) missed.push(text)
    if (!of.isOverflow && isRead) mistaken.push(text)
    if (read.window !== null && read.window.tokens !== of.windowTokens) falseWindows.push(text)
  }
  return { overflows: count, missed, lookAlikes: count, mistaken, falseWindows }
}

// --- internal ---

/** Shorter messages say nothing. */
const WORDS_MIN = 12
const byStatus: ReadonlySet<number> = new Set([401, 402, 403, 429])
const FULL_POOL = 'Context size has been exceeded.'

type Wording = { readonly provider: string; readonly states: string; readonly text: string }

function readWording(line: string): PlainRefusal {
  const { provider, states, text }: Wording = JSON.parse(line)
  const windowTokens = Number(states.split(' ')[0])
  return {
    name: provider,
    message: text,
    isOverflow: true,
    windowTokens: windowTokens >= 1_024 ? windowTokens : null,
  }
}

function classOf(message: string): string {
  const body = JSON.stringify({ error: { message } })
  return classifyAnswer({ status: 400, contentType: 'application/json', body }).class
}

function messageIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null
  const error: unknown = 'error' in body ? body.error : body
  if (typeof error === 'string') return error
  const message: unknown =
    typeof error === 'object' && error !== null && 'message' in error ? error.message : null
  return typeof message === 'string' ? message : null
}
