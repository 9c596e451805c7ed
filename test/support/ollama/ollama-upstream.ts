import type { ServerResponse } from 'node:http'
import { plainAnswer, streamOf } from '../../formats/ollama/reply/streamed.ts'
import {
  sendEvents,
  sendJson,
  serveRecorded,
  type Recorded,
  type ReplyOptions,
} from '../strict-upstream/local-server.ts'
import { piecesOf } from '../strict-upstream/reply-script.ts'
import { parseObject, textOf } from '../strict-upstream/wire-message.ts'
import { openOllamaJudge, unread, type OllamaJudgeOptions, type OllamaVerdict } from './judgement.ts'

/** What the model says. */
export type OllamaScript = {
  readonly content: string
  readonly thinking?: string
  readonly calls?: readonly { readonly name: string; readonly given: object }[]
  /** Whether the reply ended at its limit. */
  readonly isCut?: boolean
}

export type OllamaUpstreamOptions = OllamaJudgeOptions &
  ReplyOptions<OllamaVerdict, OllamaScript> & {
    /** Whether it says what it has loaded and what models are like. Default true; behind a gateway it cannot be asked. */
    readonly statesWindows?: boolean
    /** The fields of a body that it refuses as unknown. Default none: Ollama ignores what it does not know. */
    readonly unknownFields?: readonly string[]
  }

export type RecordedOllamaRequest = Recorded<OllamaVerdict>
export type OllamaUpstream = Awaited<ReturnType<typeof startOllamaUpstream>>

/**
 * A server of Ollama's own API on a free port of 127.0.0.1, which refuses what Ollama's templates make nonsense of, and does with
 * prompts beyond the window what Ollama does. The model is loaded with what the latest request asked for.
 */
export async function startOllamaUpstream(options: OllamaUpstreamOptions) {
  const judge = openOllamaJudge(options)
  const { statesWindows = true, unknownFields = [] } = options
  let loaded: { readonly model: string; readonly windowTokens: number } | null = null

  return serveRecorded<OllamaVerdict>({ record: options.record, unread }, async (request, response, keep) => {
    const { method, route, headers, body } = request
    const text = body?.toString('utf8') ?? ''
    const told = statesWindows ? statedOf(`${method} ${route}`) : null
    if (told !== null) {
      keep(200)
      return sendJson(response, 200, JSON.stringify(told))
    }
    if (method !== 'POST' || !route.endsWith('/api/chat') || body === null) {
      keep(404)
      return refuseOllama(response, 404, '404 page not found')
    }
    const unknown = Object.keys(parseObject(text) ?? {}).find((name) => unknownFields.includes(name))
    if (unknown !== undefined) {
      keep(400, { ...unread, rejection: { ...unknownField, param: unknown } })
      return refuseOllama(response, 400, `json: unknown field "${unknown}"`)
    }
    const verdict = judge(text, headers.authorization ?? '')
    keep(verdict.rejection === null ? 200 : 400, verdict)
    if (verdict.rejection !== null) return refuseOllama(response, 400, verdict.rejection.message)
    const model = textOf(verdict.body['model'])
    loaded = { model, windowTokens: verdict.windowTokens }
    const script = await options.reply({ ...verdict, headers })
    const reason = script.isCut === true ? 'length' : 'stop'
    const counts = options.statesUsage === false ? {} : countsOf(verdict, script, options.count)
    const about = { model, ...counts }
    if (verdict.body['stream'] === false)
      return sendJson(response, 200, JSON.stringify(plainAnswer(messageOf(script), reason, about)))
    sendEvents(response, streamOf(spoken(script), about, reason), 'application/x-ndjson')
  })

  /** What is stated of windows; null where nothing is asked that it states. */
  function statedOf(asked: string): object | null {
    if (asked === 'GET /api/version') return { version: '0.13.5' }
    if (asked === 'GET /api/ps') {
      const { model = '', windowTokens = 0 } = loaded ?? {}
      return { models: loaded === null ? [] : [{ name: model, model, context_length: windowTokens }] }
    }
    if (asked !== 'POST /api/show') return null
    return { model_info: { 'general.architecture': 'llama', 'llama.context_length': 131_072 } }
  }
}

const unknownField = { reason: 'parameter', message: 'json: unknown field', code: null } as const

function refuseOllama(response: ServerResponse, status: number, error: string): void {
  sendJson(response, status, JSON.stringify({ error }))
}

const callsIn = ({ calls = [] }: OllamaScript) =>
  calls.map(({ name, given }, index) => ({ function: { index, name, arguments: given } }))

function messageOf(script: OllamaScript): object {
  const { content, thinking, calls } = script
  return {
    content,
    ...(thinking !== undefined && { thinking }),
    ...(calls !== undefined && { tool_calls: callsIn(script) }),
  }
}

/** The messages of the lines of a streamed answer; each call comes whole, in a line of its own. */
const spoken = (script: OllamaScript): readonly object[] => [
  ...[...piecesOf(script.thinking ?? '')].map((thinking) => ({ thinking })),
  ...[...piecesOf(script.content)].map((content) => ({ content })),
  ...callsIn(script).map((call) => ({ tool_calls: [call] })),
]

function countsOf(
  { evaluatedTokens }: OllamaVerdict,
  { content, thinking = '', calls = [] }: OllamaScript,
  count: (text: string) => number,
): object {
  const texts = [content, thinking, ...calls.map(({ name, given }) => name + JSON.stringify(given))]
  return {
    prompt_eval_count: evaluatedTokens,
    eval_count: texts.reduce((sum, text) => sum + count(text), 0),
  }
}
