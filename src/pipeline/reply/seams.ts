import type { Seam } from '../../formats/answer-contract.ts'

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
export function lastWordsOf(text: string): string {
  const trimmed = text.trimEnd()
  for (let chars = LAST_WORDS_CHARS; chars <= LAST_WORDS_CHARS_MAX; chars *= 2) {
    const lastWords = wordsAtEnd(trimmed, chars)
    if (new Set(lastWords).size < DISTINCT_CHARS_MIN) return ''
    if (trimmed.indexOf(lastWords) === trimmed.length - lastWords.length) return lastWords
    if (chars >= trimmed.length) return ''
  }
  return ''
}

/**
 * Joins the continuation of a text that was cut. Where it begins with the last words, as it was asked to, that is left out;
 * else it is taken as the text that follows.
 */
export function continuationSeam(before: string, lastWords: string): Seam {
  const blanks = before.slice(before.trimEnd().length)
  let held = ''
  let isOpen = lastWords !== ''

  function decided(isOver: boolean): string {
    const start = held.length - held.trimStart().length
    const said = held.slice(start)
    if (!isOver && said.length < lastWords.length + blanks.length && isBeginning(said)) return ''
    isOpen = false
    if (!said.startsWith(lastWords)) return held
    const rest = said.slice(lastWords.length)
    // What the text ended in is there already.
    let shared = 0
    while (shared < blanks.length && rest[shared] === blanks[shared]) shared += 1
    return rest.slice(shared)
  }

  /** Whether what was said may still turn out to be the last words and the blanks behind it. */
  function isBeginning(said: string): boolean {
    return said.length <= lastWords.length ? lastWords.startsWith(said) : said.startsWith(lastWords)
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

/** Asks a model to go on with a text that ended in these words; '' if they would not tell where it ended. */
export function continuedText(lastWords: string): string {
  const how =
    lastWords === ''
      ? 'Go on exactly where it stopped, without repeating anything.'
      : `Go on exactly where it stopped: begin with its last words, once more and unchanged, and continue from there. They were:\n${lastWords}`
  return `${CUT} ${how}\nAdd no introduction and no remark: both parts are read as one text.`
}

/** Asks a model to make a call again that was cut. */
export function callAgain(tool: string): string {
  return `${CUT} That was in the middle of the call of ${tool}, before its arguments were complete, so it was not made. Make the call again in smaller pieces: the first piece now, each short enough to be written whole, and the others in later calls. Add no remark.`
}

// --- internal ---

const CUT = 'Your reply was cut off by the limit on its length.'

/**
 * Enough words to be found only once, and few enough to be repeated without a mistake. Shorter ones may follow once
 * more by themselves: of 1.5 million places at which recorded replies were cut, 20 with half of it.
 */
const LAST_WORDS_CHARS = 96

const LAST_WORDS_CHARS_MAX = 384

/** Fewer are a ruler, a fence or a word or two, which may well go on as they began. */
const DISTINCT_CHARS_MIN = 12

function wordsAtEnd(text: string, chars: number): string {
  const tail = text.slice(-chars)
  if (tail.length === text.length) return tail.trimStart()
  // Half a word, or half a character, is no good beginning.
  const blank = tail.search(/\s/)
  const words = blank === -1 ? tail.replace(/^[\udc00-\udfff]/, '') : tail.slice(blank).trimStart()
  return words === '' ? tail.trimStart() : words
}
