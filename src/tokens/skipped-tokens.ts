import type { Message } from '../conversation/message.ts'
import type { Source, Span, Pausable } from '../json/source.ts'
import { marksIn, READ_BYTES_MAX, skippedMark } from '../json/skipped-text.ts'
import type { TokenCounter } from './bpe-counter.ts'

/** Whether a part of a message is counted by samples: it is longer than what is read of one. */
export function isSampled({ start, end, facts }: Message): boolean {
  // Facts of tens of thousands of short messages need not be looked at.
  return end - start > READ_BYTES_MAX && (facts.skipped?.some(({ isText }) => isText) ?? false)
}

/**
 * What each part of a very long message weighs that is not read, in tokens, in their order: about, by samples that are
 * spread over it, so that no message costs more to count than one of twice what is read. 0 for what is no text. Counted
 * once for each message and counter.
 */
export function* skippedTokens(
  source: Source,
  message: Message,
  countSteps: CountSteps,
): Pausable<readonly number[]> {
  const { skipped = [] } = message.facts
  if (skipped.length === 0) return NOTHING
  const sizes = known.get(countSteps) ?? new WeakMap<Message['facts'], readonly number[]>()
  known.set(countSteps, sizes)
  const found = sizes.get(message.facts)
  if (found !== undefined) return found
  const texts = skipped.filter(({ isText }) => isText)
  const bytes = texts.reduce((sum, { start, end }) => sum + end - start, 0)
  const tokens: number[] = []
  for (const each of skipped) {
    const span = { start: message.start + each.start, end: message.start + each.end }
    const share = (each.end - each.start) / bytes
    const windows = Math.ceil(SAMPLES * share)
    tokens.push(each.isText ? yield* sampledTokens(source, span, countSteps, windows) : 0)
  }
  sizes.set(message.facts, tokens)
  return tokens
}

/** What is not read of a text of a message, in tokens: the text holds a mark in its place. `tokens` as `skippedTokens` gives them. */
export function hiddenTokens({ facts }: Message, tokens: readonly number[], text: string): number {
  const { skipped } = facts
  if (skipped === undefined) return 0
  const marks = skipped.map((each, position) => skippedMark(each, position))
  return marksIn(text, marks).reduce((hidden, { position }) => hidden + (tokens[position] ?? 0), 0)
}

/** The tokens of a long text in a body by so many samples of it in equal distances, scaled by their bytes; of a shorter one by all of it. */
export function* sampledTokens(
  source: Source,
  { start, end }: Span,
  countSteps: CountSteps,
  samples = SAMPLES,
): Pausable<number> {
  const bytes = end - start
  const step = Math.max(SAMPLE_BYTES, bytes / samples)
  let tokens = 0
  let sampledBytes = 0
  for (let at = 0; at < bytes; at += step) {
    const from = start + Math.floor(at)
    const until = Math.min(end, from + SAMPLE_BYTES)
    tokens += yield* countSteps(unescaped(source.text(from, until)))
    sampledBytes += until - from
    yield
  }
  return Math.ceil((tokens * bytes) / sampledBytes)
}

// --- internal ---

type CountSteps = TokenCounter['countSteps']

const NOTHING: readonly number[] = []

const known = new WeakMap<CountSteps, WeakMap<Message['facts'], readonly number[]>>()

/** Samples of one message: in all as much as is read of it. */
const SAMPLE_BYTES = 32_768
const SAMPLES = READ_BYTES_MAX / SAMPLE_BYTES

/** What a piece of a JSON string says. Where it was cut within an escape or a character, a few units of it are wrong. */
function unescaped(piece: string): string {
  if (!piece.includes('\\')) return piece
  return piece.replaceAll(escape, (_, code: string, hex: string | undefined) =>
    hex === undefined ? (meaningOf[code] ?? code) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

const escape = /\\(u([0-9a-fA-F]{4})|.)/g

const meaningOf: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }
