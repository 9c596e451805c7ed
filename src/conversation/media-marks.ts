import type { Media } from './message.ts'

/** What a message's media are, in a few words that stand for them where they cannot: the first of them each, of the rest how many. */
export function mediaMarks(media: readonly Media[]): string {
  const marks = media.slice(0, MARKS_MAX).map(mediaMark)
  if (media.length > MARKS_MAX) marks.push(`[and ${media.length - MARKS_MAX} more]`)
  return marks.join(' ')
}

// --- internal ---

const MARKS_MAX = 8

function mediaMark({ kind, widthPixels, heightPixels, seconds }: Media): string {
  const isSized = widthPixels > 0 && heightPixels > 0
  if (isSized) return `[${kind} ${widthPixels}x${heightPixels}]`
  return seconds === undefined
    ? `[${kind === 'other' ? 'other content' : kind}]`
    : `[${kind} ${Math.round(seconds)}s]`
}
