import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AnswerClass, Classification, Remedy } from '../../../src/overflow/classification.ts'
import type { WholeAnswer } from '../../../src/overflow/classify.ts'

/** An entry of overflow-answers.json. */
export type RecordedAnswer = {
  readonly name: string
  readonly provider: string
  readonly status: number
  readonly content_type: string
  readonly body: unknown
  readonly is_overflow: boolean
  readonly window?: number
  readonly prompt_tokens?: number
  readonly prompt_tokens_is_lower_bound?: boolean
  readonly completion_tokens?: number
  readonly total_tokens?: number
  readonly remedy: string
}

/** An entry of server-answers.json: `case` says what had been asked for. */
export type ServerAnswer = {
  readonly server: string
  readonly version: string
  readonly case: string
  readonly stream: boolean
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function readRecordedAnswers(path: string): readonly RecordedAnswer[] {
  const parsed: RecordedAnswer[] = JSON.parse(readFileSync(path, 'utf8'))
  return parsed
}

export function readServerAnswers(folder: string): readonly ServerAnswer[] {
  const parsed: ServerAnswer[] = JSON.parse(readFileSync(join(folder, 'server-answers.json'), 'utf8'))
  return parsed
}

export const answerOfRecorded = ({
  status,
  content_type: contentType,
  body,
}: RecordedAnswer): WholeAnswer => ({
  status,
  contentType,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

export function answerOfServer({ status, headers, body }: ServerAnswer): WholeAnswer {
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  return { status, contentType: contentType ?? '', body }
}

/** What is right for an answer; a number is asked for only where the answer states one. */
export type Expected = {
  readonly classes: readonly AnswerClass[]
  readonly remedies: readonly Remedy[]
  readonly windowTokens?: number
  readonly promptTokens?: number
  readonly isPromptExact?: boolean
  readonly completionTokens?: number
  readonly totalTokens?: number
  /** Why, where it is not the answer's own entry that says so. */
  readonly because: string
}

const remedyOf: Readonly<Record<string, Remedy>> = {
  none: 'none',
  compact: 'compact',
  clamp_max_tokens: 'clamp',
  clamp_max_tokens_or_compact: 'clamp-or-compact',
  compact_count: 'compact-count',
  compact_bytes: 'compact-bytes',
}

/** Where the collection leaves open which of the two is right, an answer may say that less output is enough. */
function remediesOf({ remedy }: RecordedAnswer): readonly Remedy[] {
  const named = remedyOf[remedy] ?? 'none'
  return named === 'clamp-or-compact' ? [named, 'less-output'] : [named]
}

const noOverflow: readonly AnswerClass[] = [
  'output_too_large',
  'payload_too_large',
  'rate',
  'order',
  'denied',
  'other',
]

/** llama.cpp's words for a full pool, which several requests share. */
const fullPool = /"code":5\d\d,"message":"Context size has been exceeded\."/

/**
 * As the entry says, but for a full pool: server-answers.json holds the very same answer of requests that were within
 * the window, so that it cannot be an overflow here and none there.
 */
export function expectedOfRecorded(entry: RecordedAnswer): Expected {
  if (typeof entry.body === 'string' && fullPool.test(entry.body)) {
    return { classes: ['crowded'], remedies: ['none'], because: 'a full pool says the same' }
  }
  const { window, prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = entry
  return {
    classes: entry.is_overflow ? ['overflow'] : noOverflow,
    remedies: remediesOf(entry),
    ...(window === undefined || isPlainAnswer(entry) ? {} : { windowTokens: window }),
    ...(prompt === undefined ? {} : { promptTokens: prompt }),
    isPromptExact: entry.prompt_tokens_is_lower_bound !== true,
    ...(completion === undefined ? {} : { completionTokens: completion }),
    ...(total === undefined ? {} : { totalTokens: total }),
    because: '',
  }
}

/** By what had been asked for, and by how the server was started. */
export function expectedOfServer({ case: asked, status, server, version }: ServerAnswer): Expected {
  if (asked.includes('KV pool is full')) {
    return { classes: ['crowded'], remedies: ['none'], because: 'no request was beyond the window' }
  }
  if (asked.startsWith('max_tokens alone')) {
    const windowTokens = windowOf(server, version, asked)
    return { classes: ['output_too_large'], remedies: ['clamp'], ...windowTokens, because: 'only the output' }
  }
  if (asked.startsWith('template refusal')) {
    return { classes: ['order', 'other'], remedies: ['none'], because: 'roles or ids' }
  }
  if (status === 404) return { classes: ['other'], remedies: ['none'], because: 'no such model' }
  if (status < 400) {
    return {
      classes: ['other'],
      remedies: ['none'],
      because: 'nothing is refused; cuts and empty streams show elsewhere',
    }
  }
  return {
    classes: ['overflow'],
    remedies: ['compact'],
    ...windowOf(server, version, asked),
    because: 'refused, the prompt beyond the window',
  }
}

/** What of it does not hold, in words; empty if all does. */
export function wrongIn(read: Classification, expected: Expected): string {
  const wrong: string[] = []
  const check = (what: string, is: unknown, shouldBe: unknown) => {
    if (is !== shouldBe) wrong.push(`${what} ${String(is)} for ${String(shouldBe)}`)
  }
  if (!expected.classes.includes(read.class)) wrong.push(`${read.class} for ${expected.classes.join('|')}`)
  if (!expected.remedies.includes(read.remedy))
    wrong.push(`${read.remedy} for ${expected.remedies.join('|')}`)
  if (expected.classes.length > 1 && read.class === 'other') return wrong.join(', ')
  if (expected.windowTokens !== undefined) check('window', read.window?.tokens, expected.windowTokens)
  if (expected.promptTokens !== undefined) {
    check('prompt', read.promptTokens?.tokens, expected.promptTokens)
    check('exact', read.promptTokens?.exact, expected.isPromptExact)
  }
  if (expected.completionTokens !== undefined)
    check('output', read.completionTokens, expected.completionTokens)
  if (expected.totalTokens !== undefined) check('total', read.totalTokens, expected.totalTokens)
  return wrong.join(', ')
}

/** The window of an answer without an error is what is known beforehand. */
const isPlainAnswer = ({ status, body }: RecordedAnswer): boolean =>
  status === 200 && typeof body === 'object'

/** Ollama refuses without numbers; all others were started with a window of 8,192 unless they say another. */
function windowOf(server: string, version: string, asked: string): { readonly windowTokens?: number } {
  if (server === 'Ollama') return {}
  const named = /--max-model-len (\d+)/.exec(version)?.[1]
  if (named !== undefined) return { windowTokens: Number(named) }
  return { windowTokens: asked.startsWith('parallel 2') ? 4096 : 8192 }
}
