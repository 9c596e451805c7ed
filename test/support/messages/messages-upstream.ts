import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { sendJson, serveLocally, type ArrivedRequest, sendEvents } from '../strict-upstream/local-server.ts'
import { textOf } from '../strict-upstream/wire-message.ts'
import { openBindings, prefixAfter } from './bindings.ts'
import { openBlockCounter } from './block-tokens.ts'
import {
  messageEvents,
  messageOf,
  type WrittenReply,
  scriptedBlock,
  stopReasonOf,
  type MessagesScript,
} from './script.ts'
import { openImitatorJudge, type ImitatorOptions } from './imitator.ts'
import {
  openMessagesJudge,
  unread,
  type MessagesJudgeOptions,
  type MessagesRejection,
  type MessagesVerdict,
} from './judgement.ts'
import { typeOf, type WireBlock } from './wire-block.ts'

export type MessagesUpstreamOptions = MessagesJudgeOptions & {
  /** Called for every request that is accepted, in the order of their arrival. */
  readonly reply: (request: AcceptedMessagesRequest) => MessagesScript | Promise<MessagesScript>
  /** A local engine that speaks this API, instead of Anthropic. */
  readonly imitator?: ImitatorOptions
  /** The name that its answers go by. Default: that of the request. */
  readonly answersAs?: string
  /** Whether `requests` is kept. Default true; a long replay turns it off or calls `forget`. */
  readonly record?: boolean
  /** Whether replies state what they cost. Default true. */
  readonly statesUsage?: boolean
  /** Whether its list of models states the window. Default false: it has none. */
  readonly statesWindow?: boolean
  /** Whether a reply ends where the window does. Default false: it is as long as its script. */
  readonly endsAtWindow?: boolean
  /** Whether it counts prompts on request. Default false: it has no such path. */
  readonly countsTokens?: boolean
}

/** A request that obeys the rules and fits the window. */
export type AcceptedMessagesRequest = Omit<MessagesVerdict, 'rejection'> & {
  readonly headers: IncomingHttpHeaders
}

export type RecordedMessagesRequest = Pick<
  MessagesVerdict,
  'messages' | 'rawMessages' | 'promptTokens' | 'cache' | 'transformations'
> & {
  readonly method: string
  /** With its query string. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly status: number
  readonly rejected: MessagesRejection | null
}

export type MessagesUpstream = Awaited<ReturnType<typeof startMessagesUpstream>>

/**
 * A server of the Messages API on a free port of 127.0.0.1 which is as strict as Anthropic's: it refuses broken sequences and
 * prompts over its window in Anthropic's words, tells thinking that was made on another conversation, and reports what a
 * prompt cache would have read and written.
 */
export async function startMessagesUpstream(options: MessagesUpstreamOptions) {
  const bindings = openBindings('messages-upstream')
  const counter = openBlockCounter(options.count)
  const { imitator } = options
  const judge =
    imitator === undefined ? openMessagesJudge(options, bindings) : openImitatorJudge(options, imitator)
  const requests: RecordedMessagesRequest[] = []
  let made = 0
  const idOf = (prefix: string) => `${prefix}_${String((made += 1)).padStart(6, '0')}`

  async function serve(request: ArrivedRequest, response: ServerResponse): Promise<void> {
    const { method, route, headers, body } = request
    if (method === 'GET' && route.endsWith('/models') && options.statesWindow === true) {
      keep(request, 200)
      return sendJson(response, 200, modelList(options.windowTokens))
    }
    const endpoint = method === 'POST' ? endpointOf(route, options) : null
    if (body === null) return fail(request, response, tooLarge)
    if (endpoint === null) return fail(request, response, { ...notFound, message: `Not found: ${route}` })
    const owner = textOf(headers['x-api-key'] ?? headers.authorization)
    const verdict = judge(body.toString('utf8'), headers, owner)
    const { rejection } = verdict
    if (rejection !== null) return fail(request, response, rejection, verdict)
    keep(request, 200, verdict)
    if (endpoint === 'count_tokens')
      return sendJson(response, 200, JSON.stringify({ input_tokens: verdict.promptTokens }))
    const reply = written(verdict, owner, await scriptOf(verdict, headers))
    if (verdict.body['stream'] !== true)
      return sendJson(response, 200, JSON.stringify(messageOf(reply, 'whole')))
    sendEvents(response, messageEvents(reply))
  }

  function keep(request: ArrivedRequest, status: number, verdict: MessagesVerdict = unread): void {
    if (options.record === false) return
    const { method, path, headers, body } = request
    const { messages, rawMessages, promptTokens, cache, transformations, rejection: rejected } = verdict
    const seen = { messages, rawMessages, promptTokens, cache, transformations, rejected }
    requests.push({ method, path, headers, body: body ?? Buffer.alloc(0), status, ...seen })
  }

  function fail(
    request: ArrivedRequest,
    response: ServerResponse,
    error: Refusal,
    verdict?: MessagesVerdict,
  ): void {
    keep(request, error.status, verdict)
    const { type, message, errorCode = null } = error
    const details = errorCode === null ? {} : { details: { error_code: errorCode } }
    const body = { type: 'error', error: { type, message, ...details }, request_id: idOf('req') }
    sendJson(response, error.status, JSON.stringify(body))
  }

  async function scriptOf(verdict: MessagesVerdict, headers: IncomingHttpHeaders): Promise<MessagesScript> {
    const { body } = verdict
    // Then the client only warms the cache.
    if (body['max_tokens'] === 0) return { content: [], stopReason: 'max_tokens' }
    if (body['compaction'] !== undefined) return { content: [{ type: 'compaction', text: 'What was said.' }] }
    return options.reply({ ...verdict, headers })
  }

  function written(verdict: MessagesVerdict, owner: string, script: MessagesScript): WrittenReply {
    const { body, promptTokens, cache, transformations } = verdict
    const model = textOf(body['model'])
    let prefix = verdict.end
    const content: WireBlock[] = []
    for (const scripted of script.content) {
      const sign = (block: WireBlock, tokens: number) =>
        imitator === undefined ? bindings.sign(block, tokens, { owner, model, prefix }) : ''
      const block = scriptedBlock(scripted, sign)
      content.push(block)
      const isSigned = imitator === undefined && scripted.type !== 'verbatim'
      prefix = prefixAfter(prefix, 'assistant', block, isSigned ? bindings.read(block) : null)
    }
    const cut = cutToWindow(content, options.windowTokens - promptTokens)
    const usage =
      options.statesUsage === false
        ? null
        : {
            promptTokens,
            cache: imitator === undefined ? cache : null,
            outputTokens: outputTokens(cut.content),
          }
    const stopReason = cut.isCut ? 'model_context_window_exceeded' : stopReasonOf(script)
    const named = { ...body, model: options.answersAs ?? model }
    return { id: idOf('msg'), body: named, content: cut.content, stopReason, usage, transformations }
  }

  /** Where the window ends in the middle of a reply, its words are cut there, and calls are not made. */
  function cutToWindow(content: readonly WireBlock[], roomTokens: number) {
    if (options.endsAtWindow !== true || outputTokens(content) <= roomTokens) return { content, isCut: false }
    const kept: WireBlock[] = []
    for (const block of content) {
      const room = roomTokens - outputTokens(kept)
      if (counter.block(block) <= room) kept.push(block)
      else {
        const text = textOf(block['text'])
        const begin = text.slice(0, Math.floor((text.length * room) / counter.block(block)))
        if (typeOf(block) === 'text' && begin.trim() !== '') kept.push({ ...block, text: begin })
        break
      }
    }
    return { content: kept, isCut: true }
  }

  function outputTokens(content: readonly WireBlock[]): number {
    return content.reduce((sum, block) => sum + counter.block(block), 0)
  }

  const server = await serveLocally(serve)
  return { ...server, requests, forget: () => void requests.splice(0) }
}

type Refusal = {
  readonly status: number
  readonly type: string
  readonly message: string
  readonly errorCode?: string | null
}

const tooLarge: Refusal = {
  status: 413,
  type: 'request_too_large',
  message: 'Request exceeds the maximum size',
}

const notFound = { status: 404, type: 'not_found_error' }

/** Which of the server's endpoints a path leads to, under any prefix. */
function endpointOf(
  route: string,
  { countsTokens }: MessagesUpstreamOptions,
): 'messages' | 'count_tokens' | null {
  if (route.endsWith('/messages')) return 'messages'
  return route.endsWith('/messages/count_tokens') && countsTokens === true ? 'count_tokens' : null
}

function modelList(windowTokens: number): string {
  const model = {
    type: 'model',
    id: 'claude-strict',
    display_name: 'Claude Strict',
    created_at: '2026-01-01T00:00:00Z',
    max_input_tokens: windowTokens,
    max_tokens: 64_000,
  }
  return JSON.stringify({ data: [model], has_more: false, first_id: model.id, last_id: model.id })
}
