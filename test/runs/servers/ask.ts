import { Agent, fetch } from 'undici'
import { chatCompletions, messages as messagesApi, parsed, responses, SHOWN_CHARS, type Api } from './apis.ts'

export type Question = {
  readonly messages: readonly string[]
  readonly isStreamed: boolean
  readonly api?: ApiName
  /** The longest reply; the model seldom ends before. Default `OUTPUT_TOKENS`. */
  readonly outputTokens?: number
}

const apis = { chat: chatCompletions, responses, messages: messagesApi } as const
export type ApiName = keyof typeof apis

/** What a client got: why it is of no use, and whether a part of it had come before. */
export type Reply = Awaited<ReturnType<typeof ask>>

export const OUTPUT_TOKENS = 16

export async function ask(origin: string, question: Question) {
  const { messages, isStreamed, outputTokens = OUTPUT_TOKENS } = question
  const api: Api = apis[question.api ?? 'chat']
  const body = `{"model":"tiny",${api.bodyOf({ messages, isStreamed, outputTokens })}}`
  const answered = await fetched(`${origin}/v1/${api.path}`, body)
  if (typeof answered === 'string')
    return { header: () => '', problem: answered, hasBegun: false, promptTokens: null }
  const { answer, text } = answered
  const isEvents = isStreamed && answer.status === 200
  const parts = isEvents ? events(text) : [parsed(text)]
  const status = answer.status === 200 ? null : `${answer.status}: ${text.slice(0, SHOWN_CHARS)}`
  return {
    header: (name: string) => answer.headers.get(name) ?? '',
    problem: status ?? api.problem(parts, text, isEvents),
    hasBegun: parts.some(api.hasOutput),
    promptTokens: parts.map(api.promptTokens).findLast((tokens) => tokens !== null) ?? null,
  }
}

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

const events = (text: string): readonly unknown[] =>
  [...text.matchAll(/^data:(?! ?\[DONE\])(.*)$/gm)].map(([, data = '']) => parsed(data))
