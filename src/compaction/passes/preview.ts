import { numberInMark } from '../history/message-numbers.ts'
import { cutHead, cutTail } from './clip.ts'

/**
 * A long text's head and tail, with a mark between them that states the original size in tokens
 * and the name by which all of it can be read back, null where it cannot; the text itself where that is no longer.
 */
export function previewText(
  text: string,
  sizeTokens: number,
  bounds: { readonly maxChars: number; readonly maxLines: number },
  number: string | null = null,
): string {
  const mark = `[preview: the middle of this result was left out; all of it was ${sizeTokens} tokens${numberInMark(number)}]`
  const chars = Math.max(0, bounds.maxChars - mark.length - BREAKS_CHARS)
  const lines = Math.max(0, bounds.maxLines - 1)
  const head = cutHead(text, Math.floor(chars * PREVIEW_HEAD_SHARE), Math.ceil(lines * PREVIEW_HEAD_SHARE))
  const tail = cutTail(
    text.slice(head.length),
    chars - Math.floor(chars * PREVIEW_HEAD_SHARE),
    Math.floor(lines * (1 - PREVIEW_HEAD_SHARE)),
  )
  const shown = [head, mark, tail].filter((piece) => piece !== '').join('\n')
  return shown.length < text.length ? shown : text
}

// --- internal ---

/** Commands print what they are first and how they ended last: the head takes more. */
const PREVIEW_HEAD_SHARE = 0.6

/** The line breaks around the mark of a preview. */
const BREAKS_CHARS = 2
