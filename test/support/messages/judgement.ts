import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { JudgeOptions } from '../strict-upstream/judgement.ts'
import { REPLY_TOKENS } from '../strict-upstream/prompt-tokens.ts'
import { rawElements, rawMembers } from '../strict-upstream/raw-request.ts'
import { isObject, parseObject, textOf, valueDigest } from '../strict-upstream/wire-message.ts'
import {
  judgeSigned,
  prefixOf,
  signedBlocks,
  type Bindings,
  type MismatchReason,
  type Prefix,
  type SignedBlock,
} from './bindings.ts'
import { blockBreaks, type BlockRule, systemBreak } from './block-rules.ts'
import { openBlockCounter } from './block-tokens.ts'
import {
  automaticMarkOf,
  marksProblem,
  markOf,
  openMarkCache,
  unused,
  type CachePart,
  type CacheUse,
} from './mark-cache.ts'
import {
  meaningOf,
  blocksOf,
  isThinking,
  readMessages,
  systemBlocks,
  turnsOf,
  typeOf,
  type SentMessage,
  type WireBlock,
} from './wire-block.ts'

/** With older models `max_tokens` has to fit beside the prompt. */
export type MessagesJudgeOptions = Omit<JudgeOptions, 'template'> & {
  /** Of the prompt cache: what is shorter is not written. Default 1,024. */
  readonly cache?: { readonly minimumTokens?: number }
  /**
   * What becomes of thinking that was made on another conversation, where the request does not say: it is refused (the
   * default) or left out. `none`: an older model, which takes it anywhere, and which insists on the thinking before open calls
   * where it thinks with a budget.
   */
  readonly binding?: 'error' | 'drop_block' | 'none'
}

/** A refusal in Anthropic's words. */
export type MessagesRejection = {
  readonly reason:
    | BlockRule
    | 'body'
    | 'field'
    | 'marks'
    | 'signature'
    | 'binding'
    | 'thinking-missing'
    | 'template'
    | 'window'
  readonly status: 400
  readonly type: 'invalid_request_error'
  readonly message: string
  readonly errorCode: string | null
}

/** What the server did to thinking that was made on another conversation: it left it out. */
export type Transformation = {
  readonly type: 'thinking_dropped'
  readonly path: string
  readonly reason: MismatchReason
}

export type MessagesVerdict = {
  readonly body: WireBlock
  /** What the model gets to see: neither thinking that was left out nor what was compacted. */
  readonly messages: readonly SentMessage[]
  /** The raw JSON text of each message. */
  readonly rawMessages: readonly string[]
  /** 0 where the request was refused before it was counted. */
  readonly promptTokens: number
  readonly cache: CacheUse
  readonly transformations: readonly Transformation[]
  /** What thinking in the reply is bound to. */
  readonly end: Prefix
  readonly rejection: MessagesRejection | null
}

/** What is known of a request that was not read. */
export const unread: MessagesVerdict = {
  body: {},
  messages: [],
  rawMessages: [],
  promptTokens: 0,
  cache: unused,
  transformations: [],
  end: prefixOf({}),
  rejection: null,
}

/** Judges request bodies one after the other; `owner` is whose prompt cache and whose thinking it is. */
export type MessagesJudge = (bodyText: string, headers: IncomingHttpHeaders, owner: string) => MessagesVerdict

export function openMessagesJudge(options: MessagesJudgeOptions, bindings: Bindings): MessagesJudge {
  const counter = openBlockCounter(options.count)
  const cache = openMarkCache(options.cache ?? {})

  return function judge(bodyText, headers, owner) {
    const body = parseObject(bodyText)
    if (body === null) return { ...unread, rejection: refusal('body', 'The request body is not valid JSON.') }
    const field = fieldProblem(body, headers)
    if (field !== null) return { ...unread, body, rejection: refusal('field', field) }

    const sent = readMessages(body['messages'])
    const rawMessages = rawElements(rawMembers(bodyText).get('messages') ?? '')
    const given = { ...unread, body, rawMessages, messages: sent }
    const broken = brokenRule(body, options)
    if (broken !== null) return { ...given, rejection: broken }
    const marks = marksProblem(body, sent)
    if (marks !== null) return { ...given, rejection: refusal('marks', marks) }

    // Of what was compacted the model sees nothing.
    const shown = sent.slice(Math.max(0, sent.findLastIndex(isCompacted)))
    const { signed, end } = signedBlocks(body, shown, bindings)
    const { transformations, rejection } = judgeThinking(signed, { body, headers, owner })
    if (rejection !== null) return { ...given, end, rejection }
    if (lacksThinking(body, sent)) return { ...given, end, rejection: thinkingMissing(sent) }

    const dropped = new Set(transformations.map(({ path }) => path))
    const messages = dropped.size === 0 ? shown : shown.map((message) => without(message, dropped))
    const parts = partsOf(body, messages)
    const promptTokens = parts.reduce((sum, { tokens }) => sum + tokens, REPLY_TOKENS)
    const read = { ...given, messages, promptTokens, transformations, end }
    const overflow = windowProblem(options, promptTokens, Number(body['max_tokens']))
    if (overflow !== null) return { ...read, rejection: refusal('window', overflow) }
    return { ...read, cache: cache.serve(`${owner} ${textOf(body['model'])}`, parts), rejection: null }
  }

  function judgeThinking(
    signed: readonly SignedBlock[],
    { body, headers, owner }: Pick<MessagesVerdict, 'body'> & { headers: IncomingHttpHeaders; owner: string },
  ): Pick<MessagesVerdict, 'transformations' | 'rejection'> {
    const { binding = 'error' } = options
    const behavior = binding === 'none' ? binding : (mismatchBehaviorOf(body) ?? binding)
    const transformations: Transformation[] = []
    for (const each of signed) {
      const found = judgeSigned(each, { owner, model: textOf(body['model']) })
      if (found === 'forged') return { transformations, rejection: forged(each) }
      if (found === 'modified') return { transformations, rejection: modified(each) }
      if (found === null || behavior === 'none') continue
      if (behavior === 'error')
        return { transformations, rejection: bound(each, found, betasOf(headers).has(BINDING_BETA)) }
      transformations.push({ type: 'thinking_dropped', path: each.path, reason: found })
    }
    return { transformations, rejection: null }
  }

  function lacksThinking(body: WireBlock, messages: readonly SentMessage[]): boolean {
    if (options.binding !== 'none' || !thinksManually(body)) return false
    const first = openRound(messages)?.blocks[0]
    return first !== undefined && !isThinking(first)
  }

  /** The prompt in the order in which it is cached: tools, system prompt, messages. */
  function partsOf(body: WireBlock, messages: readonly SentMessage[]): readonly CachePart[] {
    const tools = blocksOf(body['tools'])
    const system = systemBlocks(body)
    const parts: CachePart[] = [
      ...tools.map((tool, place) => ({
        digest: meaningOf(tool),
        tokens: place === 0 ? counter.tools(tools) : 0,
        mark: markOf(tool),
      })),
      ...framed(system, system.length === 0 ? 0 : counter.message(system), 'system'),
      // How a model thinks and what it may call stand before all messages.
      { digest: valueDigest([thinkingTypeOf(body), body['tool_choice']]), tokens: 0, mark: null },
      ...messages.flatMap(({ role, blocks }) => framed(blocks, counter.message(blocks), role)),
    ]
    const automatic = automaticMarkOf(body)
    if (automatic === null) return parts
    const last = parts.length - 1
    return parts.map((part, place) => (place === last ? { ...part, mark: automatic } : part))
  }

  /** What stands around a message is the first block's. */
  function framed(blocks: readonly WireBlock[], tokens: number, role: string): readonly CachePart[] {
    const own = blocks.map((block) => counter.block(block))
    const frame = own.reduce((left, each) => left - each, tokens)
    return blocks.map((block, place) => ({
      digest: hash('sha1', `${role} ${meaningOf(block)}`),
      tokens: (own[place] ?? 0) + (place === 0 ? frame : 0),
      mark: markOf(block),
    }))
  }
}

export const refusal = (
  reason: MessagesRejection['reason'],
  message: string,
  errorCode: string | null = null,
): MessagesRejection => ({ reason, status: 400, type: 'invalid_request_error', message, errorCode })

const BINDING_BETA = 'thinking-binding-controls-2026-08-01'

/** What a client asks to try. */
function betasOf(headers: IncomingHttpHeaders): ReadonlySet<string> {
  const stated = headers['anthropic-beta']
  const values = typeof stated === 'string' ? [stated] : (stated ?? [])
  return new Set(values.flatMap((value) => value.split(',')).map((value) => value.trim()))
}

/** What is wrong with the headers and with the members around the messages; null if nothing is. */
function fieldProblem(body: WireBlock, headers: IncomingHttpHeaders): string | null {
  if (textOf(headers['anthropic-version']) === '') return 'anthropic-version: header is required'
  const betas = betasOf(headers)
  const unknown = Object.keys(body).find((name) => !isTaken(name, betas))
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`
  const lacking = ['model', 'messages', 'max_tokens'].find((name) => body[name] === undefined)
  if (lacking !== undefined) return `${lacking}: Field required`
  const { messages, max_tokens: limit } = body
  if (!Array.isArray(messages)) return 'messages: Input should be a valid list'
  if (messages.length === 0) return 'messages: at least one message is required'
  if (typeof limit !== 'number' || limit < 0) return 'max_tokens: Input should be greater than or equal to 0'
  return systemBreak(body['system']) ?? toolsProblem(body['tools']) ?? thinkingProblem(body, betas)
}

/** What to do with thinking that is bound to another conversation, where the request says so. */
function mismatchBehaviorOf(body: WireBlock): 'error' | 'drop_block' | null {
  const { thinking } = body
  const binding = isObject(thinking) ? thinking['block_binding'] : null
  const behavior = isObject(binding) ? binding['prefix_mismatch_behavior'] : null
  return behavior === 'error' || behavior === 'drop_block' ? behavior : null
}

/** Thinking with a budget, as older models have it. */
function thinksManually(body: WireBlock): boolean {
  const { thinking } = body
  return isObject(thinking) && thinking['type'] === 'enabled'
}

function brokenRule(body: WireBlock, options: MessagesJudgeOptions): MessagesRejection | null {
  if (options.rules === 'unchecked') return null
  const sent: readonly unknown[] = Array.isArray(body['messages']) ? body['messages'] : []
  const [broken] = blockBreaks(sent, { allowsPrefill: false })
  return broken === undefined ? null : refusal(broken.rule, broken.message, broken.errorCode)
}

const isCompacted = ({ blocks }: SentMessage): boolean =>
  blocks.some((block) => typeOf(block) === 'compaction')

function forged({ path, block }: SignedBlock): MessagesRejection {
  const type = typeOf(block)
  const member = type === 'redacted_thinking' ? 'data' : 'signature'
  const code = type === 'compaction' ? 'compaction_signature_invalid' : null
  return refusal('signature', `${path}: Invalid \`${member}\` in \`${type}\` block`, code)
}

const modified = ({ path }: SignedBlock): MessagesRejection =>
  refusal(
    'signature',
    `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
  )

function bound({ path, block }: SignedBlock, reason: MismatchReason, hasBeta: boolean): MessagesRejection {
  const what = boundTo[reason]
  const header = hasBeta
    ? ''
    : ` That setting requires the \`${BINDING_BETA}\` value in the \`anthropic-beta\` header.`
  return refusal(
    'binding',
    `${path}: Invalid \`signature\` in \`${typeOf(block)}\` block. The block is bound to a different ${what}. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".${header}`,
  )
}

const boundTo: Readonly<Record<MismatchReason, string>> = {
  prefix_binding_mismatch: 'conversation',
  model_binding_mismatch: 'model',
  organization_binding_mismatch: 'organization',
}

/** Where the turn of the model's begins whose calls the client has just answered; undefined where it has not. */
function openRound(messages: readonly SentMessage[]): SentMessage | undefined {
  const turn = turnsOf(messages).findLast(({ role }) => role === 'assistant')
  const calls = turn?.messages.some(({ blocks }) => blocks.some((block) => typeOf(block) === 'tool_use'))
  return calls === true ? turn?.messages[0] : undefined
}

function thinkingMissing(messages: readonly SentMessage[]): MessagesRejection {
  const round = openRound(messages)
  const type = typeOf(round?.blocks[0] ?? {})
  return refusal(
    'thinking-missing',
    `messages.${round?.index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`,
  )
}

function without(message: SentMessage, dropped: ReadonlySet<string>): SentMessage {
  const isShown = (place: number) => !dropped.has(`messages.${message.index}.content.${place}`)
  return { ...message, blocks: message.blocks.filter((_, place) => isShown(place)) }
}

function windowProblem(
  { windowTokens, outputReserveChecked }: MessagesJudgeOptions,
  promptTokens: number,
  outputTokens: number,
): string | null {
  if (promptTokens > windowTokens)
    return `prompt is too long: ${promptTokens} tokens > ${windowTokens} maximum`
  if (!outputReserveChecked || promptTokens + outputTokens <= windowTokens) return null
  return `input length and \`max_tokens\` exceed context limit: ${promptTokens} + ${outputTokens} > ${windowTokens}, decrease input length or \`max_tokens\` and try again`
}

const thinkingTypeOf = ({ thinking }: WireBlock): string =>
  isObject(thinking) ? textOf(thinking['type']) : ''

const known = new Set(
  (
    'model max_tokens messages system tools tool_choice thinking output_config stream stop_sequences metadata ' +
    'cache_control container mcp_servers diagnostics fallbacks service_tier speed inference_geo temperature top_p top_k'
  ).split(' '),
)

/** Members that are known only to those who ask to try them. */
const tried: Readonly<Record<string, readonly string[]>> = {
  context_management: ['context-management-2025-06-27', 'compact-2026-01-12'],
  compaction: ['compact-2026-09-04'],
  thread: ['message-threads-2026-08-12'],
}

const isTaken = (name: string, betas: ReadonlySet<string>): boolean =>
  known.has(name) || tried[name]?.some((beta) => betas.has(beta)) === true

function toolsProblem(tools: unknown): string | null {
  if (tools === undefined) return null
  if (!Array.isArray(tools)) return 'tools: Input should be a valid list'
  const names = new Set<string>()
  for (const [index, tool] of (tools as readonly unknown[]).entries()) {
    if (!isObject(tool)) return `tools.${index}: Input should be an object`
    const name = textOf(tool['name'])
    const isCustom = tool['type'] === undefined || tool['type'] === 'custom'
    if (isCustom && name === '') return `tools.${index}.custom.name: Field required`
    if (isCustom && !isObject(tool['input_schema']))
      return `tools.${index}.custom.input_schema: Field required`
    if (name !== '' && names.has(name)) return 'tools: Tool names must be unique.'
    names.add(name)
  }
  return null
}

function thinkingProblem({ thinking }: WireBlock, betas: ReadonlySet<string>): string | null {
  if (!isObject(thinking) || thinking['block_binding'] === undefined || betas.has(BINDING_BETA)) return null
  return `thinking.${textOf(thinking['type'])}.block_binding: Extra inputs are not permitted`
}
