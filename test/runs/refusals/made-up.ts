import { classifyAnswer } from '../../support/chat-completions.ts'
import type { Classification } from '../../../src/overflow/classification.ts'
import {
  lookAlikesApart,
  lookAlikesInTheField,
  lookAlikesKnown,
  lookAlikesTriedFourth,
  lookAlikesTriedSecond,
  lookAlikesTriedThird,
} from './made-up-look-alikes.ts'
import {
  overflowsApart,
  overflowsInTheField,
  overflowsKnown,
  overflowsTriedFourth,
  overflowsTriedSecond,
  overflowsTriedThird,
  type MadeUpOverflow,
} from './made-up-overflows.ts'

export type MadeUpHalf = {
  readonly name: string
  readonly overflows: readonly MadeUpOverflow[]
  readonly lookAlikes: readonly string[]
}

/** The first was there when the general form was made; the others were judged once before it was changed for them. */
export const madeUpHalves: readonly MadeUpHalf[] = [
  { name: 'known beforehand', overflows: overflowsKnown, lookAlikes: lookAlikesKnown },
  { name: 'kept apart', overflows: overflowsApart, lookAlikes: lookAlikesApart },
  { name: 'of servers in the field', overflows: overflowsInTheField, lookAlikes: lookAlikesInTheField },
  { name: 'tried second', overflows: overflowsTriedSecond, lookAlikes: lookAlikesTriedSecond },
  { name: 'tried third', overflows: overflowsTriedThird, lookAlikes: lookAlikesTriedThird },
  { name: 'tried fourth', overflows: overflowsTriedFourth, lookAlikes: lookAlikesTriedFourth },
]

export type MadeUpVerdict = {
  readonly missed: readonly string[]
  readonly mistaken: readonly string[]
  /** Overflows that state a number, those of which all is read, and those of which a number is read wrong. */
  readonly stated: number
  readonly read: number
  readonly misread: readonly string[]
}

/** Judged by the general form alone. */
export function judgeMadeUp({ overflows, lookAlikes }: MadeUpHalf): MadeUpVerdict {
  const stating = overflows.filter(([, window]) => window !== null)
  return {
    missed: overflows.filter(([text]) => readMadeUp(text).class !== 'overflow').map(([text]) => text),
    mistaken: lookAlikes.filter((text) => isOverflowLike(readMadeUp(text))),
    stated: stating.length,
    read: stating.filter((overflow) => isRead(overflow)).length,
    misread: overflows.filter((overflow) => isMisread(overflow)).map(([text]) => text),
  }
}

// --- internal ---

function readMadeUp(message: string): Classification {
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } })
  const answer = { status: 400, contentType: 'application/json', body }
  return classifyAnswer(answer, { knownWindowTokens: null, signatures: [] })
}

function isOverflowLike(read: Classification): boolean {
  return read.class === 'overflow' || read.window !== null
}

function isRead([text, window, prompt]: MadeUpOverflow): boolean {
  const read = readMadeUp(text)
  return (read.window?.tokens ?? null) === window && (read.promptTokens?.tokens ?? null) === prompt
}

function isMisread([text, window, prompt]: MadeUpOverflow): boolean {
  const read = readMadeUp(text)
  const isWindowWrong = read.window !== null && read.window.tokens !== window
  return isWindowWrong || (read.promptTokens !== null && read.promptTokens.tokens !== prompt)
}
