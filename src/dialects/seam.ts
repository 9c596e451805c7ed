/** Joins the text of a further answer to what was said before. */
export type Seam = {
  /** Takes a piece of it, cut anywhere; returns what the reader gets by now. */
  readonly feed: (text: string) => string
  /** What was held back and turned out to be text. */
  readonly end: () => string
}

/** A new utterance begins a paragraph of its own. */
export function paragraphSeam(before: string): Seam {
  let gap = before === '' || before.endsWith('\n') ? '' : '\n\n'
  return {
    feed: (text) => {
      if (text === '') return ''
      const joined = gap + text
      gap = ''
      return joined
    },
    end: () => '',
  }
}

/**
 * The last words of a text that was cut, which the model is asked to begin with, so that it is sure where the two
 * meet; '' where no words stand there only once, and the end could not be told from an earlier place.
 */
export function anchorOf(text: string): string {
  const trimmed = text.trimEnd()
  for (let chars = ANCHOR_CHARS; chars <= ANCHOR_CHARS_MAX; chars *= 2) {
    const anchor = lastWords(trimmed, chars)
    if (new Set(anchor).size < DISTINCT_CHARS_MIN) return ''
    if (trimmed.indexOf(anchor) === trimmed.length - anchor.length) return anchor
    if (chars >= trimmed.length) return ''
  }
  return ''
}

/**
 * Joins the continuation of a text that was cut. Where it begins with the anchor, as it was asked to, that is left out;
 * else it is taken as the text that follows.
 */
export function continuationSeam(before: string, anchor: string): Seam {
  const blanks = before.slice(before.trimEnd().length)
  let held = ''
  let isOpen = anchor !== ''

  function decided(isOver: boolean): string {
    const start = held.length - held.trimStart().length
    const said = held.slice(start)
    if (!isOver && said.length < anchor.length + blanks.length && isBeginning(said)) return ''
    isOpen = false
    if (!said.startsWith(anchor)) return held
    const rest = said.slice(anchor.length)
    // What the text ended in is there already.
    let shared = 0
    while (shared < blanks.length && rest[shared] === blanks[shared]) shared += 1
    return rest.slice(shared)
  }

  /** Whether what was said may still turn out to be the anchor and the blanks behind it. */
  function isBeginning(said: string): boolean {
    return said.length <= anchor.length ? anchor.startsWith(said) : said.startsWith(anchor)
  }

  return {
    feed: (text) => {
      if (!isOpen) return text
      held += text
      return decided(false)
    },
    end: () => (isOpen ? decided(true) : ''),
  }
}

// --- internal ---

/**
 * Enough words to be found only once, and few enough to be repeated without a mistake. Shorter ones may follow once
 * more by themselves: of 1.5 million places at which recorded replies were cut, 20 with half of it.
 */
const ANCHOR_CHARS = 96

const ANCHOR_CHARS_MAX = 384

/** Fewer are a ruler, a fence or a word or two, which may well go on as they began. */
const DISTINCT_CHARS_MIN = 12

function lastWords(text: string, chars: number): string {
  const tail = text.slice(-chars)
  if (tail.length === text.length) return tail.trimStart()
  // Half a word, or half a character, is no good beginning.
  const blank = tail.search(/\s/)
  const words = blank === -1 ? tail.replace(/^[\udc00-\udfff]/, '') : tail.slice(blank).trimStart()
  return words === '' ? tail.trimStart() : words
}
