import type { Steps } from '../../../conversation/source.ts'
import { evened, wordsOf } from './forms/words.ts'

/**
 * How much of each of some pieces, from 0 to 1, stands in the same words in many others: who fills in a form over and
 * over, or asks for the same with other names, lays down no rule each time. Numbers count as the same word.
 */
export function* habitualShares(pieces: readonly string[]): Steps<number[]> {
  const runs: ReadonlySet<string>[] = []
  const times = new Map<string, number>()
  for (const piece of pieces) {
    const own = runsOf(piece)
    for (const run of own) times.set(run, (times.get(run) ?? 0) + 1)
    runs.push(own)
    yield
  }
  const many = Math.max(TIMES_MIN, pieces.length * TIMES_SHARE)
  const shares: number[] = []
  for (const own of runs) {
    const often = [...own].filter((run) => (times.get(run) ?? 0) >= many).length
    shares.push(own.size === 0 ? 0 : (often / own.size) ** 0.5)
    yield
  }
  return shares
}

// --- internal ---

/** What stands so often is said out of habit … */
const TIMES_MIN = 4
/** … and in so many of very many pieces. */
const TIMES_SHARE = 0.01

const RUN_WORDS = 3
const RUN_CHARS = 5

/** Of a longer piece the beginning tells its form. */
const LOOKED_AT_CHARS = 400

const runsTogether = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** The runs of a few words in a piece; where words run together, of characters. */
function runsOf(piece: string): Set<string> {
  const text = evened(piece.slice(0, LOOKED_AT_CHARS)).replace(/\d+/g, '0')
  const runs = new Set<string>()
  if (runsTogether.test(text)) {
    const written = text.replace(/[\s\d\p{P}]/gu, '')
    for (let at = 0; at + RUN_CHARS <= written.length; at += 1) runs.add(written.slice(at, at + RUN_CHARS))
    return runs
  }
  const words = wordsOf(text).map(({ word }) => word)
  for (let at = 0; at + RUN_WORDS <= words.length; at += 1)
    runs.add(words.slice(at, at + RUN_WORDS).join(' '))
  return runs
}
