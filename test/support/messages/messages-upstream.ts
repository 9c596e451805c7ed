import type { IncomingHttpHeaders } from 'node:http'
import {
  sendEvents,
  sendJson,
  serveRecorded,
  type Accepted,
  type Recorded,
  type ReplyOptions,
} from '../strict-upstream/local-server.ts'
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
import { openMessagesJudge, unread, type MessagesJudgeOptions, type MessagesVerdict } from './judgement.ts'
import type { WireBlock } from './wire-block.ts'

export type MessagesUpstreamOptions = MessagesJudgeOptions &
  ReplyOptions<MessagesVerdict, MessagesScript> & {
    /** A local engine that speaks this API, instead of Anthropic. */
    readonly imitator?: ImitatorOptions
    /** The name that its answers go by. Default: that of the request. */
    readonly answersAs?: string
  }

export type AcceptedMessagesRequest = Accepted<MessagesVerdict>

export type RecordedMessagesRequest = Recorded<MessagesVerdict>

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
  let made = 0
  const idOf = (prefix: string) => `${prefix}_${String((made += 1)).padStart(6, '0')}`

  const serving = serveRecorded<MessagesVerdict>(
    { record: options.record, unread },
    async (request, response, keep) => {
      const { method, route, headers, body } = request
      const fail = (error: Refusal, verdict?: MessagesVerdict): void => {
        keep(error.status, verdict)
        const { type, message, errorCode = null } = error
        const details = errorCode === null ? {} : { details: { error_code: errorCode } }
        const told = { type: 'error', error: { type, message, ...details }, request_id: idOf('req') }
        sendJson(response, error.status, JSON.stringify(told))
      }
      if (body === null) return fail(tooLarge)
      if (method !== 'POST' || !route.endsWith('/messages'))
        return fail({ ...notFound, message: `Not found: ${route}` })
      const owner = textOf(headers['x-api-key'] ?? headers.authorization)
      const verdict = judge(body.toString('utf8'), headers, owner)
      if (verdict.rejection !== null) return fail(verdict.rejection, verdict)
      keep(200, verdict)
      const reply = written(verdict, owner, await scriptOf(verdict, headers))
      if (verdict.body['stream'] !== true)
        return sendJson(response, 200, JSON.stringify(messageOf(reply, 'whole')))
      sendEvents(response, messageEvents(reply))
    },
  )

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
    const outputTokens = content.reduce((sum, block) => sum + counter.block(block), 0)
    const counted = { promptTokens, cache: imitator === undefined ? cache : null, outputTokens }
    const usage = options.statesUsage === false ? null : counted
    const named = { ...body, model: options.answersAs ?? model }
    return { id: idOf('msg'), body: named, content, stopReason: stopReasonOf(script), usage, transformations }
  }

  return serving
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
