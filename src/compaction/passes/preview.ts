import { cutHead, cutTail } from '../cut.ts'
import { numberInMark } from '../../subject/message-numbers.ts'

/** A preview's bounds: the shorter one counts. */
export type PreviewBounds = { readonly maxChars: number; readonly maxLines: number }

/** The share of a preview that its head takes: commands print what they are first and how they ended last. */
const HEAD_SHARE = 0.6

/**
 * A long text's head and tail, with a mark between them that states the original size in tokens and the name by which
 * all of it can be read back, null where it cannot; the text itself where that is no longer.
 */
export function previewText(
  text: string,
  sizeTokens: number,
  bounds: PreviewBounds,
  number: string | null = null,
): string {
  const mark = previewMark(sizeTokens, number)
  const chars = Math.max(0, bounds.maxChars - mark.length - BREAKS_CHARS)
  const lines = Math.max(0, bounds.maxLines - 1)
  const head = cutHead(text, Math.floor(chars * HEAD_SHARE), Math.ceil(lines * HEAD_SHARE))
  const tail = cutTail(
    text.slice(head.length),
    chars - Math.floor(chars * HEAD_SHARE),
    Math.floor(lines * (1 - HEAD_SHARE)),
  )
  const preview = [head, mark, tail].filter((piece) => piece !== '').join('\n')
  return preview.length < text.length ? preview : text
}

// --- internal ---

/** The line breaks around the mark. */
const BREAKS_CHARS = 2

function previewMark(sizeTokens: number, number: string | null): string {
  return `[preview: the middle of this result was left out; all of it was ${sizeTokens} tokens${numberInMark(number)}]`
}
