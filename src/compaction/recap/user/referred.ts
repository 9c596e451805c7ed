import { sentencesOf } from './sentences.ts'

/**
 * What a short answer answers, word for word and in one line: the question with which the text before it ends, or nearly so, with
 * the list above that; where it asks nothing, a last paragraph of one sentence, which is a proposal. Which item of a list a word
 * means no rule can tell in every language: all of them stand there, and whoever reads knows. null where a text ends otherwise.
 */
export function referredIn(before: string): string | null {
  const question = lastQuestion(before)
  const said = question ?? proposalIn(before)
  if (said === null) return null
  const items = question === null ? [] : lastList(before.slice(-ENDING_CHARS))
  const shown = items.slice(-ITEMS_MAX)
  const itemChars = Math.max(ITEM_CHARS_MIN, Math.floor((LIST_CHARS_MAX - said.length) / shown.length))
  const told = shown.map((item) => inLine(item, itemChars))
  if (items.length > shown.length) told.unshift('…')
  if (!shown.some((item) => item.includes(said))) told.push(inLine(said, SAID_CHARS_MAX))
  return told.join(' / ')
}

/** The question with which a text ends, or nearly so; null where it ends otherwise. */
export function lastQuestion(text: string): string | null {
  const last = lastSentences(text).slice(-QUESTION_SENTENCES)
  return last.findLast((sentence) => /[?？؟]/.test(sentence.slice(-3))) ?? null
}

// --- internal ---

const SAID_CHARS_MAX = 120

/** What a list takes with its question, about: some sixty tokens. */
const LIST_CHARS_MAX = 320
const ITEM_CHARS_MIN = 40
const ITEMS_MAX = 6

/** Where more than that follows a list, it is not what the text ends with. */
const BEHIND_LIST_CHARS = 240

/** Lists, and questions that stand farther from the end, are not what was answered. */
const ENDING_CHARS = 2_000
const QUESTION_SENTENCES = 2

/** The items of the list with which a text ends, or nearly so; none where that is another thing. */
function lastList(text: string): string[] {
  const items: string[] = []
  let begin = text.length
  for (const match of [...text.matchAll(listItem)].toReversed()) {
    const between = text.slice(match.index + match[0].length, begin)
    // Behind an item stand only lines that belong to it; behind the last one the question.
    const isNext = items.length === 0 ? between.length <= BEHIND_LIST_CHARS : !/^\S/m.test(between)
    if (!isNext) break
    items.unshift(match[0])
    begin = match.index
  }
  return items.length > 1 ? items : []
}

const listItem =
  /^[ \t]{0,8}(?:[-*•–+]|[*_(]{0,3}(?:[\p{L}]{3,12} )?(?:\d{1,2}|[A-Ha-h])[.):])[ \t*_][^\n]*/gmu

/** A last paragraph that is a single sentence: what ends a longer one is no proposal. */
function proposalIn(text: string): string | null {
  const paragraph =
    text
      .trimEnd()
      .split(/\n\s*\n/)
      .at(-1) ?? ''
  const [first, ...others] = paragraph.length > SAID_CHARS_MAX ? [] : sentencesOf(paragraph)
  return first === undefined || others.length > 0 ? null : paragraph.slice(first.start, first.end)
}

/** The sentences with which a text ends, without the one that the end begins in. */
function lastSentences(text: string): string[] {
  const ending = text.slice(-ENDING_CHARS)
  const sentences = sentencesOf(ending).map(({ start, end }) => ending.slice(start, end))
  return sentences.slice(text.length > ENDING_CHARS ? 1 : 0)
}

function inLine(text: string, charsMax: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > charsMax ? `${line.slice(0, charsMax)}…` : line
}
