import type { EntrySpan, Envelope } from '../../json/body-spans.ts'
import {
  isJsonObject,
  isPresent,
  objectsOf,
  parseJson,
  parseJsonText,
  stringOr,
} from '../../json/json-value.ts'
import type { Source, Span, Pausable } from '../../json/source.ts'
import { fieldSet, spanOfWords, spanOpening } from '../body-members.ts'
import { firstOf, valueIn } from '../content/slots.ts'
import type { BodyEdit, BodyFacts, BodyMembers, BodyShape, OutputLimit } from '../contract.ts'
import { elementsIn, withComma } from '../../json/json-scan.ts'
import { READ_BYTES_MAX } from '../../json/skipped-text.ts'

/**
 * The fields that a request of a client key confined to profiles may have: those of Anthropic's API, and what servers take
 * beside them. None chooses a model but `model`. Not here are `fallbacks`, which names models that answer instead,
 * `mcp_servers`, which names addresses, and what may choose a model at some gateway.
 */
const messagesFields = fieldSet(
  // Anthropic
  `model messages cache_control compaction container context_management diagnostics inference_geo
   max_tokens metadata output_config output_format service_tier speed stop_sequences stream system
   temperature thinking thread tool_choice tools top_k top_p`,
  // vLLM, SGLang, llama.cpp, OpenRouter
  `chat_template_kwargs kv_transfer_params min_p provider repetition_penalty seed session_id user`,
)

/** How the body of a request for a message is written. */
export const messagesBody: BodyShape = {
  keys: { history: 'messages', content: 'content' },
  knownFields: messagesFields,
  isSurelyOwn: isMessagesBody,
  readNames: fieldSet('model stream max_tokens tool_choice thinking thread context_management'),
  limitNames: ['max_tokens'],
  refusal: (_, { values }) => {
    if (isPresent(values.get('thread'))) return 'stateful'
    return editsItself(values.get('context_management')) ? 'native' : null
  },
  entries: wholeMessages,
  facts: (source, { spans, values }, outputLimit) => {
    const thinking = spanOpening('{', source, spans.get('thinking'))
    const system = spanOfWords(source, spans.get('system'))
    return {
      outputLimit: outputLimit === null ? null : withThinking(source, outputLimit, thinking),
      outputLeastTokens: budgetIn(values.get('thinking')) + 1,
      system,
      billingLine: system === null ? null : billingLineIn(source, system),
      schema: schemaOf(source, spans),
      isToolForced: isToolForced(values.get('tool_choice')),
    }
  },
}

// --- internal ---

/** A chat may have messages of the same texts; but no system beside them, no such tools and no such blocks. */
function isMessagesBody(source: Source, { fieldNames, tools, history }: BodyFacts): boolean {
  if (fieldNames.some((name) => ownFields.has(name))) return true
  if (tools !== null && ownTool.test(source.latin1(tools.start, tools.end))) return true
  return ownBlock.test(source.latin1(history.start, history.end))
}

/** Whether the server is asked to take more out of the history than thoughts. */
function editsItself(management: unknown): boolean {
  const edits = objectsOf(isJsonObject(management) ? management['edits'] : null)
  return edits.some(({ type }) => shorteningEdit.test(stringOr(type, '')))
}

/** Edits of the server's that take more out of a history than thoughts, from some size on. */
const shorteningEdit = /^(?:compact|clear_tool_uses)_/

const ownFields: ReadonlySet<string> = new Set(['system', 'stop_sequences', 'context_management'])

// No quotation mark stands unescaped within a text.
const ownTool = /"input_schema"\s*:/
const ownBlock = /"type"\s*:\s*"tool_(?:use|result)"/

function budgetIn(thinking: unknown): number {
  const budget = isJsonObject(thinking) ? thinking['budget_tokens'] : null
  return typeof budget === 'number' && budget > 0 ? budget : 0
}

/** The fewest tokens that thinking can be given. */
const THINKING_TOKENS_MIN = 1_024

function withThinking(source: Source, limit: OutputLimit, thinking: Span | null): OutputLimit {
  const value = thinking === null ? null : valueIn(source, thinking, 'budget_tokens')
  if (value === null) return limit
  const tokens = Number(source.latin1(value.start, value.end))
  // Where thinking goes on between calls it may have more than one reply: that is left as it is.
  if (!(tokens < limit.tokens)) return limit
  return { ...limit, thinking: { tokens, tokensMin: THINKING_TOKENS_MIN, value } }
}

/** The form of the reply, where it has to keep to a schema. */
function schemaOf(source: Source, spans: BodyMembers['spans']): BodyFacts['schema'] {
  const config = spanOpening('{', source, spans.get('output_config'))
  const format = config === null ? null : valueIn(source, config, 'format')
  if (config !== null && format !== null && firstOf(source, format) === '{')
    return { ...format, elements: config.elements }
  return spanOpening('{', source, spans.get('output_format'))
}

function isToolForced(choice: unknown): boolean {
  return isJsonObject(choice) && (choice['type'] === 'any' || choice['type'] === 'tool')
}

/**
 * What takes the line for Anthropic's billing out of `system`, which Claude Code writes as the first text there. A list and a
 * text that would be empty without it keep its name, since empty ones are refused by some. Null if there is no such line.
 */
function billingLineIn(source: Source, system: Span): BodyEdit | null {
  if (firstOf(source, system) === '"') return lineOfText(source, system)
  const beginning = source.latin1(system.start, Math.min(system.end, system.start + LOOKED_AT_BYTES))
  if (!beginning.includes(NAME)) return null
  const blocks = elementsIn(source, system) ?? []
  const at = blocks.findIndex((block) => isLine(source, block))
  const line = blocks[at]
  if (line === undefined) return null
  const alone = withComma(blocks, at)
  if (blocks.length > 1 && alone !== null) return { at: alone, text: '' }
  const text = valueIn(source, line, 'text')
  return text === null ? null : { at: text, text: JSON.stringify(NAME) }
}

const NAME = 'x-anthropic-billing-header:'

/** It stands first, unless somebody on the way has put something before it. */
const LOOKED_AT_BYTES = 65_536

/** The line has a hundred characters or two. */
const LINE_BYTES_MAX = 2_048

function isLine(source: Source, block: Span): boolean {
  if (block.end - block.start > LINE_BYTES_MAX) return false
  const parsed = parseJson(source, block)
  return isJsonObject(parsed) && typeof parsed['text'] === 'string' && parsed['text'].startsWith(NAME)
}

/** Gateways join the blocks to one text, a line break or two between them. */
function lineOfText(source: Source, text: Span): BodyEdit | null {
  const beginning = source.latin1(text.start, Math.min(text.end, text.start + LINE_BYTES_MAX))
  const line = /^"(x-anthropic-billing-header:)([^"\\]*(?:\\n)*)(.)/.exec(beginning)
  if (line === null) return null
  const [, name = '', rest = '', next] = line
  const start = text.start + 1
  const end = start + name.length + rest.length
  // What goes on in the same line is not ours to tell from it.
  if (next !== '"') return rest.endsWith('\\n') ? { at: { start, end }, text: '' } : null
  return { at: { start: start + name.length, end }, text: '' }
}

/**
 * The entries of a history: the blocks of assistants' messages, and of users' messages that hold results, each in its message;
 * and every other message as a whole. What a user says at a time is one thing, however many blocks it is written in, and the
 * same goes for a system message.
 */
function* wholeMessages(source: Source, blocks: readonly EntrySpan[]): Pausable<readonly EntrySpan[]> {
  const entries: EntrySpan[] = []
  let entriesInStep = 0
  for (let start = 0; start < blocks.length;) {
    const block = blocks[start]
    if (block === undefined) break
    const { envelope } = block
    const own = envelope === undefined ? [block] : blocksOf(envelope, blocks, start)
    if (envelope === undefined || (yield* isOfBlocks(source, envelope, own))) entries.push(...own)
    else entries.push(wholeMessage(envelope, own))
    start += own.length
    entriesInStep += own.length
    if (entriesInStep < ENTRIES_PER_STEP) continue
    entriesInStep = 0
    yield
  }
  return entries
}

function blocksOf(envelope: Envelope, blocks: readonly EntrySpan[], start: number): readonly EntrySpan[] {
  let end = start + 1
  while (blocks[end]?.envelope === envelope) end += 1
  return blocks.slice(start, end)
}

/** Entries between two pauses: less than a millisecond. */
const ENTRIES_PER_STEP = 1_024

/** Blocks looked at between two pauses, in bytes: about a millisecond. */
const BYTES_PER_STEP = 262_144

/** How a role and a type are mostly written: where the message or block begins. */
const roleFirst = /^\{\s*"role"\s*:\s*"(\w+)"/
const typeFirst = /^\{\s*"type"\s*:\s*"(\w+)"/

/** Either stands within so many bytes, if it stands first. */
const HEAD_BYTES = 64

function* isOfBlocks(source: Source, envelope: Envelope, blocks: readonly EntrySpan[]): Pausable<boolean> {
  const role = roleIn(source, envelope)
  // Of a message that nobody has read it is said later that it cannot be.
  if (role !== 'user') return role === 'assistant' || role === null
  let bytes = 0
  for (const block of blocks) {
    if (typeOf(source, block) === 'tool_result') return true
    bytes += block.end - block.start
    if (bytes < BYTES_PER_STEP) continue
    bytes = 0
    yield
  }
  return false
}

function roleIn(source: Source, { start, open, close, end }: Envelope): unknown {
  const found = roleFirst.exec(source.latin1(start, Math.min(open, start + HEAD_BYTES)))
  // What stands behind the content may say it again: then nobody knows, and the entry is not read.
  if (found !== null) return found[1]
  if (open - start + end - close > READ_BYTES_MAX) return null
  const message = parseJsonText(source.text(start, open) + source.text(close, end))
  return isJsonObject(message) ? message['role'] : null
}

function typeOf(source: Source, block: Span): unknown {
  const found = typeFirst.exec(source.latin1(block.start, Math.min(block.end, block.start + HEAD_BYTES)))
  if (found !== null) return found[1]
  const at = source.latin1(block.start, block.start + 1) === '{' ? valueIn(source, block, 'type') : null
  return at === null ? null : parseJson(source, at)
}

function wholeMessage({ start, end, keys }: Envelope, blocks: readonly EntrySpan[]): EntrySpan {
  const elements = blocks.reduce((sum, block) => sum + block.elements, blocks.length - 1)
  const longStrings = blocks.flatMap((block) => block.longStrings ?? [])
  return { start, end, keys, elements, ...(longStrings.length === 0 ? {} : { longStrings }) }
}
