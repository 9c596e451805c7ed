import { Agent, fetch } from 'undici'
import { isObject } from '../support/strict-upstream/wire-message.ts'

/** A client's request, as far as it differs from one to the next. */
export type Question = {
  /** The JSON of each message. */
  readonly messages: readonly string[]
  readonly isStreamed: boolean
  /** The longest reply; the model seldom ends before. Default `OUTPUT_TOKENS`. */
  readonly outputTokens?: number
}

/** What a client got. */
export type Reply = {
  readonly header: (name: string) => string
  /** Why it is of no use to a client; null where it is. */
  readonly problem: string | null
  /** Whether a part of the answer had come before what made it useless. */
  readonly hasBegun: boolean
  /** What the server said of the prompt; null where it said nothing. */
  readonly prompt: PromptFigures | null
}

export type PromptFigures = {
  /** As the server counts them. */
  readonly tokens: number
  /** Those that were not in its cache; null where it does not tell. */
  readonly evaluatedTokens: number | null
}

/** What is kept free for a reply. */
export const OUTPUT_TOKENS = 16

export async function ask(origin: string, question: Question): Promise<Reply> {
  const { messages, isStreamed, outputTokens = OUTPUT_TOKENS } = question
  const more = isStreamed ? ',"stream":true,"stream_options":{"include_usage":true}' : ''
  const body = `{"model":"tiny","max_tokens":${outputTokens}${more},"messages":[${messages.join(',')}]}`
  const answered = await fetched(`${origin}/v1/chat/completions`, body)
  if (typeof answered === 'string')
    return { header: () => '', problem: answered, hasBegun: false, prompt: null }
  const { answer, text } = answered
  const parts = isStreamed && answer.status === 200 ? events(text) : [parsed(text)]
  const status = answer.status === 200 ? null : `${answer.status}: ${text.slice(0, SHOWN_CHARS)}`
  return {
    header: (name) => answer.headers.get(name) ?? '',
    problem: status ?? (isStreamed ? streamProblem(text) : plainProblem(text)),
    hasBegun: parts.some(hasOutput),
    prompt: parts.map(promptFigures).findLast((figures) => figures !== null) ?? null,
  }
}

// --- internal ---

const SHOWN_CHARS = 160

/** A connection for each request: these servers close some that they said would be kept. */
const dispatcher = new Agent({ pipelining: 0 })

async function fetched(url: string, body: string) {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer agent' }
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, dispatcher })
    return { answer, text: await answer.text() }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
    return `the connection broke${cause}`
  }
}

function plainProblem(text: string): string | null {
  return finishOf(parsed(text)) === null ? `no answer: ${text.slice(0, SHOWN_CHARS)}` : null
}

/** A stream finishes, ends with `[DONE]`, and has nothing between the two but the usage that was asked for. */
function streamProblem(text: string): string | null {
  const parts = events(text)
  const failed = parts.find((part) => isObject(part) && 'error' in part)
  if (failed !== undefined) return `an error in the stream: ${JSON.stringify(failed).slice(0, SHOWN_CHARS)}`
  const finished = parts.findIndex((part) => finishOf(part) !== null)
  if (finished === -1) return `a stream without an end: ${text.slice(-SHOWN_CHARS)}`
  if (!text.trimEnd().endsWith('data: [DONE]')) return `no [DONE]: ${text.slice(-SHOWN_CHARS)}`
  const after = parts.slice(finished + 1).find((part) => !isUsageAlone(part))
  return after === undefined ? null : `after the finish: ${JSON.stringify(after).slice(0, SHOWN_CHARS)}`
}

function events(text: string): readonly unknown[] {
  return [...text.matchAll(/^data:(?! ?\[DONE\])(.*)$/gm)].map(([, data = '']) => parsed(data))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function choiceOf(part: unknown): Record<string, unknown> | null {
  if (!isObject(part) || !Array.isArray(part['choices'])) return null
  const choice: unknown = part['choices'][0]
  return isObject(choice) ? choice : null
}

function finishOf(part: unknown): string | null {
  const finish = choiceOf(part)?.['finish_reason']
  return typeof finish === 'string' && finish !== '' ? finish : null
}

function hasOutput(part: unknown): boolean {
  const choice = choiceOf(part)
  const said = choice?.['delta'] ?? choice?.['message']
  return isObject(said) && typeof said['content'] === 'string' && said['content'] !== ''
}

function isUsageAlone(part: unknown): boolean {
  return isObject(part) && isObject(part['usage']) && choiceOf(part) === null
}

function promptFigures(part: unknown): PromptFigures | null {
  if (!isObject(part) || !isObject(part['usage'])) return null
  const { usage, timings } = part
  const tokens = Number(usage['prompt_tokens'])
  return { tokens, evaluatedTokens: isObject(timings) ? Number(timings['prompt_n']) : null }
}
