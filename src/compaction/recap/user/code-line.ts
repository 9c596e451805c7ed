import type { FormKind } from './forms/forms.ts'
import { formsIn } from './forms/match.ts'
import { wordCount } from './forms/words.ts'

/** Whether a line is one of code, data or a log. A rule may look like one: "Never log {secrets}". */
export function isCodeLine(line: string): boolean {
  if (beginsAsCode(line)) return true
  const end = line.slice(-END_CHARS)
  return codeEnd.test(end) && !isRule(end)
}

/** Whether a line or a sentence begins as code, data or a log do, and lays nothing down. */
export function beginsAsCode(line: string): boolean {
  const begin = line.slice(0, BEGIN_CHARS)
  if (surelyBegins.test(begin)) return true
  return (
    keywordBegins.test(begin) &&
    (runOfWords(line.slice(0, END_CHARS)) < RUN_OF_RULE || !isRule(line.slice(0, END_CHARS)))
  )
}

// --- internal ---

const BEGIN_CHARS = 80
const END_CHARS = 200

/** How lines of logs, code, diffs and data begin. Nothing here that a sentence begins with: "Error messages in Dutch." */
const surelyBegins =
  /^\s*(?:\d{4}-\d\d-\d\d[T ]\d|\[?\d{1,2}:\d\d:\d\d|at [\w$.<>]+ ?\(|\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)[\]|]|\$ |>>> |[{}|]|\[[\d"'{]|@@ |diff --git|File "|Traceback|import [\w{*"']+ from |from [\w.]+ import |#include|(?:SELECT|INSERT|UPDATE|CREATE) [\w*]|\/\/|\/\*)/
/** Words of code that are words of sentences, too: "class names (also of components) must …". */
const keywordBegins = /^\s*(?:def|class|function|const|let|var|return|public|private) ?[\w$]* ?[({=]/
const codeEnd = /[{}]\s*$|[=<>()$].*;\s*$|=>\s*[{(]|\)\s*:\s*$/

/** What no sentence has: a block that is left open, an assignment, a call. */
const surelyCode = /\{\s*$|^[^{]*\}|\s[-+*/|&]?=\s|=[=>]|[)\]]\s*=|->|::|&&|\|\||[\w\]>][([]|[<>]\w|\w[<>]/

/** What is quoted in code, and what it tests, rules nothing: `raise Late("must be early")`. */
const quoted = /"[^"]*"|(?<!\p{L})'[^']*'/gu
const tested = /\b(?:if|elif|while|for|switch|catch|return) ?\([^)]*\)/g

/** Phrases that stand in no code by chance, but as names. */
const ruling: readonly FormKind[] = ['rule', 'ever', 'duty', 'refusal', 'standing', 'preference']
const WORDS_OF_RULE = 3
const RUN_OF_RULE = 3
/** So many words with nothing but blanks between them are a sentence, whatever it says. */
const RUN_OF_WRITING = 4

/** Whether a line that looks like code reads as a rule or a sentence all the same. */
function isRule(line: string): boolean {
  const written = line.replace(quoted, ' ').replace(tested, ' ')
  if (surelyCode.test(written)) return false
  if (runOfWords(written) >= RUN_OF_WRITING) return true
  const { kinds } = formsIn(written)
  return wordCount(written) >= WORDS_OF_RULE && ruling.some((kind) => kinds.has(kind))
}

/** The longest run of words with nothing but a blank between them. */
function runOfWords(line: string): number {
  const runs = line.match(/(?<![\p{L}\p{N}_.$/\\-])\p{L}+(?: \p{L}+)*(?![\p{L}\p{N}_$/\\=])/gu) ?? []
  return Math.max(0, ...runs.map((run) => wordCount(run)))
}
