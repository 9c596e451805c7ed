import { hash } from 'node:crypto'
import { bodyRejection, type JudgeOptions, type Rejection } from '../strict-upstream/judgement.ts'
import { openPrefixCache, type PromptPart } from '../strict-upstream/prefix-cache.ts'
import { MESSAGE_TOKENS, REPLY_TOKENS } from '../strict-upstream/prompt-tokens.ts'
import { rawElements, rawMembers } from '../strict-upstream/raw-request.ts'
import { isObject, textOf, parseObject } from '../strict-upstream/wire-message.ts'
import { itemBreaks, type ItemRule } from './item-rules.ts'
import { openItemCounter } from './item-tokens.ts'
import { meaningOf, partsOf, textTypeOf, typeOf, type WireItem, itemsOf } from './wire-item.ts'
import {
  resolved,
  unresolved,
  type ServerMemory,
  judgeSeal,
  prefixesOf,
  type Seals,
} from './server-memory.ts'
import type { RemovedReasoning } from './script.ts'

export type ResponsesJudgeOptions = Omit<JudgeOptions, 'template'> & {
  /** Whether what stands before an item of compaction is shown to the model, too. Default false. */
  readonly showsPast?: boolean
}

/** A refusal as OpenAI words it. */
export type ResponsesRejection = Omit<Rejection, 'reason'> & {
  readonly reason: ItemRule | 'body' | 'parameter' | 'not-found' | 'encrypted-content' | 'window'
  readonly status: 400 | 404
}

export type ResponsesVerdict = {
  readonly body: WireItem
  /** What the model gets to see, with what the server had stored, but for reasoning that was removed. */
  readonly items: readonly WireItem[]
  /** The raw JSON text of each item of the input. */
  readonly rawItems: readonly string[]
  /** 0 where the request was refused before it was counted. */
  readonly promptTokens: number
  readonly cachedTokens: number
  /** Reasoning that was not shown to the model. */
  readonly removed: readonly RemovedReasoning[]
  /** The digests of tools and instructions, and of them and all items: what reasoning in the reply is bound to. */
  readonly prefix: { readonly head: string; readonly end: string }
  readonly rejection: ResponsesRejection | null
}

/** What is known of a request that was not read. */
export const unread: ResponsesVerdict = {
  body: {},
  items: [],
  rawItems: [],
  promptTokens: 0,
  cachedTokens: 0,
  removed: [],
  prefix: { head: '', end: '' },
  rejection: null,
}

/** Judges request bodies one after the other; `owner` is whose prompt cache and whose reasoning it is. */
export type ResponsesJudge = (bodyText: string, owner: string) => ResponsesVerdict

export function openResponsesJudge(
  options: ResponsesJudgeOptions,
  { memory, seals }: { readonly memory: ServerMemory; readonly seals: Seals },
): ResponsesJudge {
  const counter = openItemCounter(options.count)
  const cache = openPrefixCache({ count: options.count })

  return function judge(bodyText, owner) {
    const body = parseObject(bodyText)
    if (body === null) return { ...unread, rejection: { ...bodyRejection, status: 400 } }
    const field = fieldRejection(body)
    if (field !== null) return { ...unread, body, rejection: field }

    const rawItems = rawElements(rawMembers(bodyText).get('input') ?? '')
    const given = { ...unread, body, rawItems }
    const lacking = unresolved(body, memory)
    if (lacking !== null) return { ...given, rejection: lacking }
    const sent = resolved(body, memory)
    const broken = options.rules === 'unchecked' ? undefined : itemBreaks(sent, memory.issued)[0]
    if (broken !== undefined) return { ...given, rejection: { ...broken, status: 400, reason: broken.rule } }

    const items = sent.filter(isObject)
    const prefixes = prefixesOf(body, items)
    const prefix = { head: prefixes[0] ?? '', end: prefixes.at(-1) ?? '' }
    const model = textOf(body['model'])
    const removed = new Map<WireItem, RemovedReasoning>()
    // Of what was compacted a server shows only what was said to the model.
    const start = items.findLastIndex((item) => typeOf(item) === 'compaction')
    for (const [index, item] of items.entries()) {
      if (index < start || !isSealed(item)) continue
      const reason = judgeSeal(seals, item, { owner, model, prefix: prefixes[index] ?? '' })
      if (reason === false) return { ...given, items, rejection: sealRejection(item) }
      if (reason === null) continue
      removed.set(item, { id: textOf(item['id']), reason })
    }

    const shown = items.filter(
      (item, index) => !removed.has(item) && (index >= start || options.showsPast === true || isGiven(item)),
    )
    const parts = [headPart(body), ...shown.map(itemPart)]
    const promptTokens = parts.reduce((sum, part) => sum + part.tokens, REPLY_TOKENS)
    const read = { ...given, items: shown, promptTokens, removed: [...removed.values()], prefix }
    const asked = options.outputReserveChecked ? Number(body['max_output_tokens'] ?? 0) : 0
    if (promptTokens + asked > options.windowTokens) return { ...read, rejection: windowRejection }
    return { ...read, cachedTokens: cache.serve(`${owner} ${model}`, parts), rejection: null }
  }

  function headPart(body: WireItem): PromptPart {
    const { tools, instructions } = body
    const told = textOf(instructions)
    const toldTokens = told === '' ? 0 : MESSAGE_TOKENS + options.count(told)
    return {
      hash: hash('sha1', JSON.stringify([tools, instructions])),
      tokens: counter.tools(tools) + toldTokens,
      text: null,
    }
  }

  function itemPart(item: WireItem): PromptPart {
    return { hash: meaningOf(item), tokens: counter.item(item), text: sharedTextOf(item) }
  }
}

/** What is wrong with the fields around the items; null if nothing is. */
function fieldRejection(body: WireItem): ResponsesRejection | null {
  const { model, input, tools, stream_options: streamOptions } = body
  if (model === undefined) return missing('model')
  // What a client of chat completions sends.
  for (const [old, now] of Object.entries(moved)) {
    if (body[old] === undefined) continue
    const message = `Unsupported parameter: '${old}'. In the Responses API, this parameter has moved to '${now}'.`
    return badField(message, old, 'unsupported_parameter')
  }
  if (isObject(streamOptions) && streamOptions['include_usage'] !== undefined) {
    const unknown = 'stream_options.include_usage'
    return badField(`Unknown parameter: '${unknown}'.`, unknown, 'unknown_parameter')
  }
  if (input === undefined && body['previous_response_id'] == null) return missing('input')
  if (input !== undefined && typeof input !== 'string' && !Array.isArray(input)) {
    const message = "Invalid type for 'input': expected one of an array of objects or a string."
    return badField(message, 'input', 'invalid_type')
  }
  if (Array.isArray(tools)) {
    const unnamed = tools.findIndex((tool) => isObject(tool) && isUnnamed(tool))
    if (unnamed !== -1) return missing(`tools[${unnamed}].name`)
  }
  const limit = body['max_output_tokens']
  if (typeof limit === 'number' && limit < OUTPUT_TOKENS_MIN) {
    const low = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${OUTPUT_TOKENS_MIN}, but got ${limit} instead.`
    return badField(low, 'max_output_tokens', 'integer_below_min_value')
  }
  const cuts = body['context_management'] !== undefined || body['truncation'] === 'auto'
  if (cuts && itemsOf(input).some((item) => isObject(item) && typeOf(item) === 'configuration_update')) {
    const message = "'configuration_update' items cannot be used with automatic compaction or truncation."
    return badField(message, 'input', 'invalid_value')
  }
  return null
}

const windowRejection: ResponsesRejection = {
  reason: 'window',
  status: 400,
  message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  param: 'input',
  code: 'context_length_exceeded',
}

const isGiven = (item: WireItem): boolean => typeOf(item) === 'message' && item['role'] !== 'assistant'

function isSealed(item: WireItem): boolean {
  const type = typeOf(item)
  return (type === 'reasoning' || type === 'compaction') && typeof item['encrypted_content'] === 'string'
}

function sealRejection(item: WireItem): ResponsesRejection {
  const begin = textOf(item['encrypted_content']).slice(0, 4)
  const message = `The encrypted content ${begin}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`
  return { reason: 'encrypted-content', status: 400, message, param: null, code: 'invalid_encrypted_content' }
}

/** Two items may share the beginning of a text when nothing that stands before it in the prompt differs. */
function sharedTextOf(item: WireItem): PromptPart['text'] {
  const [part, ...others] = partsOf(item['content'] ?? item['output'], textTypeOf(item))
  const content = part?.['text']
  if (typeof content !== 'string' || others.length > 0) return null
  const frame = JSON.stringify([typeOf(item), item['role'], item['call_id']])
  return { frame, frameTokens: MESSAGE_TOKENS, content }
}

const OUTPUT_TOKENS_MIN = 16

const moved = {
  messages: 'input',
  response_format: 'text.format',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
}

/** A function whose name stands in an object of its own, as chat completions have it, or nowhere. */
const isUnnamed = (tool: WireItem): boolean =>
  ['function', 'custom', 'namespace'].includes(textOf(tool['type'])) && textOf(tool['name']) === ''

const missing = (param: string): ResponsesRejection =>
  badField(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter')

const badField = (message: string, param: string, code: string): ResponsesRejection => ({
  reason: 'parameter',
  status: 400,
  message,
  param,
  code,
})
