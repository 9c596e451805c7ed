/** Where a sentence stands in a text. */
export type Sentence = { readonly start: number; readonly end: number }

/**
 * The sentences of a text that somebody wrote by hand, in their order: lines, cut where a sentence ends. Fenced code,
 * lines that look like code, data or a log, and what lies beyond the bounds are left out: nobody gives orders there.
 */
export function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = []
  // A fence without another one is none, nor are two in one line.
  const unfenced = text.replace(/```[^]*?```/g, (code) =>
    code.includes('\n') ? '\n'.repeat(code.length) : code,
  )
  const half = LOOKED_AT_CHARS / 2
  const parts = text.length > 2 * half ? [unfenced.slice(0, half), unfenced.slice(-half)] : [unfenced]
  for (const [place, part] of parts.entries()) {
    const from = place === 0 ? 0 : text.length - half
    for (const { 0: line, index } of part.matchAll(/[^\n]+/g)) {
      if (!hasLetter.test(line) || isCodeLine(line)) continue
      for (const { start, end } of writingIn(line)) {
        sentences.push({ start: from + index + start, end: from + index + end })
        if (sentences.length >= SENTENCES_MAX) return sentences
      }
    }
  }
  return sentences
}

/** Spelt in one way: case, apostrophes, and the vowel signs of Arabic, which are mostly left out. */
export function evened(text: string): string {
  const lower = text.replaceAll('İ', 'i').toLowerCase().normalize('NFC')
  return lower.replace(/[’‘ʼ´`]/g, "'").replace(/[\u064b-\u0652\u0640]/g, '')
}

/** The words of a text. */
export function wordsOf(text: string): string[] {
  return text.match(wordPattern) ?? []
}

/** Characters between which words have no blanks. */
export const runsTogether = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** How many words a sentence has; where no spaces stand between them, about. */
export function wordCount(sentence: string): number {
  return wordsOf(sentence).reduce(
    (count, word) => count + (runsTogether.test(word) ? Math.ceil(word.length / UNSPACED_WORD_CHARS) : 1),
    0,
  )
}

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

/** Nobody writes so many by hand in one message. */
const SENTENCES_MAX = 400

/** Of a longer text only the beginning and the end are looked at: the rest was pasted. */
const LOOKED_AT_CHARS = 40_000

/** Where no sentence ends in so many characters, they are data. */
const DATA_CHARS_MIN = 6000

/** A longer sentence is cut further: it is a list, or was written without full stops. */
const SENTENCE_CHARS_MAX = 360

const hasLetter = /\p{L}/u

/** The sentences of a line; of what is no writing, that part which ends at a full stop: a log may follow in its line. */
function* writingIn(line: string): Generator<Sentence, void, void> {
  const isWritten = ({ start, end }: Sentence) => isWriting(line.slice(start, end))
  for (const sentence of cutsOf(line, 0, line.length, isEnd)) {
    if (isWritten(sentence)) yield sentence
    else yield* cutsOf(line, sentence.start, sentence.end, () => true).filter(isWritten)
  }
}

function* cutsOf(
  line: string,
  from: number,
  to: number,
  isCut: typeof isEnd,
): Generator<Sentence, void, void> {
  let start = from
  for (const match of line.slice(from, to).matchAll(sentenceEnd)) {
    const mark = from + match.index
    const end = mark + match[0].length
    if (!isCut(line, start, mark, end)) continue
    yield* shortened(line, start, end)
    start = end
  }
  yield* shortened(line, start, to)
}

/** What ends a sentence, with the quotation marks and brackets that close behind it. */
const sentenceEnd = /[.!?…]{1,4}["'”’)\]*_]{0,3}(?=\s)|[。！？؟।]{1,3}["'”’」』）]{0,2}/gu

/** Whether a sentence ends there, and not a word that was shortened, or a number of a list. */
function isEnd(line: string, start: number, mark: number, end: number): boolean {
  if (line.charAt(mark) !== '.' || end - mark > 1) return true
  const before = /\S{0,12}$/.exec(line.slice(Math.max(start, mark - 12), mark))?.[0] ?? ''
  if (/^(?:\p{L}|\d{1,3})$/u.test(before) || before.includes('.')) return false
  // "Ask Dr. Smith": a capital in a word of two or three letters that begins no sentence.
  if (/^\p{Lu}\p{Ll}{1,2}$/u.test(before) && mark - start > before.length) return false
  return !/^\s+["'“(]?\p{Ll}/u.test(line.slice(end, end + 4)) || mark - start > SMALL_CHARS_MIN
}

/** Where nobody writes capitals, a sentence that is as long as this ends at a full stop. */
const SMALL_CHARS_MIN = 60

/** A sentence without blanks around it; one that is too long in pieces that end behind a mark, between words or anywhere. */
function* shortened(line: string, from: number, to: number): Generator<Sentence, void, void> {
  if (to - from > DATA_CHARS_MIN) return
  for (let start = from; start < to;) {
    const within = line.slice(start, Math.min(to, start + SENTENCE_CHARS_MAX))
    const cut =
      start + within.length < to ? cuts.map((end) => end.exec(within)).find((one) => one !== null) : null
    const piece = cut?.[0] ?? within
    const begin = start + piece.length - piece.trimStart().length
    if (piece.trim() !== '') yield { start: begin, end: begin + piece.trim().length }
    start += piece.length
  }
}

/** Where half of a piece is left, and no half of a character. */
const cuts = [/^[^]{180,}(?:[.!?;:,](?=\s|$)|[、，；：])/, /^[^]{180,}(?= )/, /^[^]*[^\ud800-\udbff]/]

/** Whether a sentence looks written by hand: mostly letters and the marks of sentences, and no row of a table. */
function isWriting(sentence: string): boolean {
  if (!hasLetter.test(sentence) || beginsAsCode(sentence) || isRow.test(sentence)) return false
  const others = sentence.match(/[^\s\p{L}\p{M}.,!?'’"“”«»()\-–—:;、。，！？：；…¡¿`]/gu)?.length ?? 0
  return others <= Math.max(4, sentence.replace(/\s/g, '').length * OTHER_SHARE_MAX)
}

/** Of the characters of a written sentence at most this share are neither letters nor the marks of sentences. */
const OTHER_SHARE_MAX = 0.2

/** Words with marks between them and no blanks. */
const isRow = /[^\s;,|][;,|][^\s;,|]+[;,|][^\s;,|]+[;,|]\S/

/** Whether a line is one of code, data or a log. A rule may look like one: "Never log {secrets}". */
function isCodeLine(line: string): boolean {
  const end = line.slice(-CODE_CHARS)
  return beginsAsCode(line) || (/(?:[{}]|[=<>()$].*;|=>\s*[{(]|\)\s*:)\s*$/.test(end) && !readsAsWriting(end))
}

/** Whether a line or a sentence begins as code, data or a log do. */
function beginsAsCode(line: string): boolean {
  const begin = line.slice(0, CODE_CHARS)
  return surelyBegins.test(begin) || (keywordBegins.test(begin) && !readsAsWriting(begin, RUN_BEHIND_KEYWORD))
}

/** So much of a line's beginning or end tells whether it is code. */
const CODE_CHARS = 200

/** How lines of logs, code, diffs and data begin. Nothing here that a sentence begins with: "Error messages in Dutch." */
const surelyBegins =
  /^\s*(?:\d{4}-\d\d-\d\d[T ]\d|\[?\d{1,2}:\d\d:\d\d|at [\w$.<>]+ ?\(|\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)[\]|]|\$ |>>> |[{}|]|\[[\d"'{]|@@ |diff --git|File "|Traceback|import [\w{*"']+ from |from [\w.]+ import |#include|(?:SELECT|INSERT|UPDATE|CREATE) [\w*]|\/\/|\/\*)/
/** Words of code that are words of sentences, too: "class names (also of components) must …". */
const keywordBegins = /^\s*(?:def|class|function|const|let|var|return|public|private) ?[\w$]* ?[({=]/

/** What no sentence has: a block that is left open, an assignment, a call. */
const surelyCode = /\{\s*$|^[^{]*\}|\s[-+*/|&]?=\s|=[=>]|[)\]]\s*=|->|::|&&|\|\||[\w\]>][([]|[<>]\w|\w[<>]/

/** What is quoted in code, and what it tests, says nothing: `raise Late("must be early")`. */
const quotedOrTested = /"[^"]*"|(?<!\p{L})'[^']*'|\b(?:if|elif|while|for|switch|catch|return) ?\([^)]*\)/gu

/** So many words with nothing but blanks between them are a sentence, whatever it says. */
const RUN_OF_WRITING = 2
const RUN_BEHIND_KEYWORD = 3

/** Whether a line that looks like code reads as a sentence all the same. */
function readsAsWriting(line: string, run = RUN_OF_WRITING): boolean {
  const written = line.replace(quotedOrTested, ' ')
  if (surelyCode.test(written)) return false
  const runs = written.match(/(?<![\p{L}\p{N}_.$/\\-])\p{L}+(?: \p{L}+)*(?![\p{L}\p{N}_$/\\=])/gu) ?? []
  return Math.max(0, ...runs.map(wordCount)) >= run
}

/** Characters of a word where none are told apart, about. */
const UNSPACED_WORD_CHARS = 2

const wordPattern = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*/gu

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
