import { lastWordsOf, continuationSeam } from '../../../src/request/reply/seams.ts'

/** How cut texts came out. */
export type TextTally = {
  readonly cuts: number
  readonly exact: number
  readonly anchored: number
  readonly exactAnchored: number
}

/**
 * A text cut at every place: joined with its rest, and, where the model was asked to begin with the last words, with
 * these and its rest.
 */
export function tallyText(whole: string): TextTally {
  let [exact, anchored, exactAnchored] = [0, 0, 0]
  for (let at = 1; at < whole.length; at += 1) {
    const before = whole.slice(0, at)
    const rest = whole.slice(at)
    const anchor = before.trim() === '' ? '' : lastWordsOf(before)
    if (joined(before, anchor, rest) === whole) exact += 1
    if (anchor === '') continue
    anchored += 1
    const blanks = before.slice(before.trimEnd().length)
    if (joined(before, anchor, anchor + blanks + rest) === whole) exactAnchored += 1
  }
  return { cuts: Math.max(0, whole.length - 1), exact, anchored, exactAnchored }
}

// --- internal ---

function joined(before: string, anchor: string, answer: string): string {
  const seam = continuationSeam(before, anchor)
  return before + seam.feed(answer) + seam.end()
}
