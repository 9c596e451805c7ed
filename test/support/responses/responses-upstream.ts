import type { ServerResponse } from 'node:http'
import {
  refuse,
  sendEvents,
  sendJson,
  serveRecorded,
  type Accepted,
  type Recorded,
  type ReplyOptions,
} from '../strict-upstream/local-server.ts'
import { textOf } from '../strict-upstream/wire-message.ts'
import {
  failedEvents,
  responseEvents,
  outputTokensOf,
  responseOf,
  usageBody,
  type WrittenReply,
  scriptedItem,
  type ResponsesScript,
  type ScriptedEnd,
} from './script.ts'
import {
  openResponsesJudge,
  unread,
  type ResponsesJudgeOptions,
  type ResponsesRejection,
  type ResponsesVerdict,
} from './judgement.ts'
import { openSeals, prefixAfter, openServerMemory, remember } from './server-memory.ts'
import { typeOf, type WireItem } from './wire-item.ts'

export type ResponsesUpstreamOptions = ResponsesJudgeOptions &
  ReplyOptions<ResponsesVerdict, ResponsesScript> & {
    /** How a prompt over the window is refused. Default: a 400 with OpenAI's code. */
    readonly overflow?: Overflow
  }

export type Overflow = {
  /** `stream`: status 200 and a stream that fails at once; a request without a stream gets the 400 even so. */
  readonly shape: 'status' | 'stream'
  /** What stands before `response.failed`: nothing, or an `error` event with an error in it. Default nothing. */
  readonly errorEvent?: 'none' | 'nested'
  /** What gateways make of `context_length_exceeded`. */
  readonly code?: string
}

export type AcceptedResponsesRequest = Accepted<ResponsesVerdict>

export type RecordedResponsesRequest = Recorded<ResponsesVerdict>

export type ResponsesUpstream = Awaited<ReturnType<typeof startResponsesUpstream>>

/**
 * A server of the Responses API on a free port of 127.0.0.1 which is as strict as OpenAI's: it refuses broken sequences and
 * prompts over its window in OpenAI's words, leaves out reasoning whose prefix has changed, and reports the tokens that an
 * exact-prefix cache would have served.
 */
export async function startResponsesUpstream(options: ResponsesUpstreamOptions) {
  const seals = openSeals('responses-upstream')
  const memory = openServerMemory()
  const judge = openResponsesJudge(options, { memory, seals })
  let made = 0
  // Of one length, as real ones are: what an item weighs does not change with how many came before it.
  const idOf = (prefix: string) => `${prefix}_${String((made += 1)).padStart(6, '0')}`

  const serving = serveRecorded<ResponsesVerdict>(
    { record: options.record, unread },
    async (request, response, keep) => {
      const { method, route, headers, body } = request
      const endpoint = method === 'POST' ? endpointOf(route) : null
      if (body === null || endpoint === null) {
        const status = body === null ? 413 : 404
        const message = body === null ? 'The request body is too large.' : `Invalid URL (${method} ${route})`
        keep(status)
        return refuse(response, status, { message, param: null, code: null })
      }
      const owner = headers.authorization ?? ''
      const verdict = judge(body.toString('utf8'), owner)
      const { rejection } = verdict
      const isStreamed = endpoint === 'responses' && verdict.body['stream'] === true
      const failsStreaming =
        isStreamed && rejection?.reason === 'window' && options.overflow?.shape === 'stream'
      const status = failsStreaming ? 200 : (rejection?.status ?? 200)
      keep(status, verdict)
      if (rejection !== null) return reject(response, verdict, rejection, failsStreaming)

      if (endpoint === 'input_tokens') {
        const counted = { object: 'response.input_tokens', input_tokens: verdict.promptTokens }
        return sendJson(response, 200, JSON.stringify(counted))
      }
      const compacts = endpoint === 'compact' || typeOf(verdict.items.at(-1) ?? {}) === 'compaction_trigger'
      const script = compacts ? compacted : await options.reply({ ...verdict, headers })
      const reply = written(verdict, owner, script)
      remember(memory, reply.id, reply.output, verdict.body['store'] === false ? null : verdict.items)
      if (endpoint === 'compact') return sendJson(response, 200, compactedHistory(verdict, reply))
      if (!isStreamed) return sendJson(response, 200, JSON.stringify(responseOf(reply, reply.end.status)))
      sendEvents(response, responseEvents(reply))
    },
  )

  function reject(
    response: ServerResponse,
    verdict: ResponsesVerdict,
    rejection: ResponsesRejection,
    failsStreaming: boolean,
  ): void {
    const isRenamed = rejection.reason === 'window'
    const code = (isRenamed ? options.overflow?.code : undefined) ?? rejection.code
    if (!failsStreaming) return refuse(response, rejection.status, { ...rejection, code })
    const end = { status: 'failed', code: code ?? '', message: rejection.message } as const
    const reply = { ...frame(verdict), output: [], end, usage: null }
    sendEvents(response, failedEvents(reply, options.overflow?.errorEvent ?? 'none'))
  }

  function frame({ body, removed }: ResponsesVerdict) {
    return { id: idOf('resp'), createdS: Math.floor(Date.now() / 1000), body, removed }
  }

  function written(verdict: ResponsesVerdict, owner: string, script: ResponsesScript): WrittenReply {
    const end: ScriptedEnd = script.end ?? { status: 'completed' }
    const { head } = verdict.prefix
    let prefix = verdict.prefix.end
    const output: WireItem[] = []
    for (const [index, scripted] of script.output.entries()) {
      const isCut = end.status === 'incomplete' && index === script.output.length - 1
      const sealed = (tokens: number) =>
        seals.seal({ owner, model: textOf(verdict.body['model']), prefix }, tokens)
      const item = scriptedItem(scripted, { idOf, sealed, status: isCut ? 'incomplete' : 'completed' })
      output.push(item)
      prefix = prefixAfter(head, prefix, item)
    }
    const { promptTokens, cachedTokens } = verdict
    const usage =
      options.statesUsage === false
        ? null
        : { promptTokens, cachedTokens, ...outputTokensOf(output, options.count) }
    return { ...frame(verdict), output, end, usage }
  }

  return serving
}

const compacted: ResponsesScript = { output: [{ type: 'compaction' }] }

const endpoints = ['responses', 'compact', 'input_tokens'] as const

/** Which of the server's endpoints a path leads to, under any prefix. */
function endpointOf(route: string): (typeof endpoints)[number] | null {
  const found = /\/responses(?:\/(compact|input_tokens))?$/.exec(route)
  return found === null ? null : (endpoints.find((endpoint) => endpoint === found[1]) ?? 'responses')
}

/** The answer of `/responses/compact`: what users have said, and one item that stands for everything. */
function compactedHistory({ items }: ResponsesVerdict, reply: WrittenReply): string {
  const said = items.filter((item) => typeOf(item) === 'message' && item['role'] === 'user')
  return JSON.stringify({
    id: reply.id,
    object: 'response.compaction',
    created_at: reply.createdS,
    output: [...said, ...reply.output],
    usage: reply.usage === null ? null : usageBody(reply.usage),
  })
}
