import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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

export function answerOfRecorded({ status, content_type: contentType, body }: RecordedAnswer): WholeAnswer {
  return { status, contentType, body: typeof body === 'string' ? body : JSON.stringify(body) }
}

export function answerOfServer({ status, headers, body }: ServerAnswer): WholeAnswer {
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  return { status, contentType: contentType ?? '', body }
}
