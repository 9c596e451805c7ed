import type { BodyLimits, KnownHistory } from '../../conversation/body-spans.ts'
import { isJsonObject, isPresent, stringOr } from '../../conversation/json-value.ts'
import type { Source, Steps } from '../../conversation/source.ts'
import {
  modelPlaceIn,
  notRead,
  outputLimitOf,
  readMembers,
  spanOpening,
  withoutStreamingOf,
  type BodyMembers,
} from '../body-members.ts'
import { firstOf, valueIn } from '../content/slot-edits.ts'
import type { BodyFacts, NotRead, OutputLimit } from '../contract.ts'
import { wantsStaleRefused } from '../thought-refusals.ts'
import { billingLineIn } from './billing-line.ts'
import { wholeMessages } from './whole-messages.ts'

/** What is parsed for what it says; every other value only has to be JSON. */
const readNames: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'max_tokens',
  'tool_choice',
  'thinking',
  'thread',
  'context_management',
])

/** Reads the body of a request for a message around its history. */
export function* readMessagesBody(
  source: Source,
  limits: BodyLimits,
  known: KnownHistory | null,
): Steps<{ readonly read: true; readonly body: BodyFacts } | NotRead> {
  const keys = { history: 'messages', content: 'content' }
  const found = yield* readMembers(source, keys, readNames, limits, known)
  if (!found.read) return found
  const { spans, values, members, history } = found
  if (isPresent(values.get('thread'))) return notRead('stateful')
  if (editsItself(values.get('context_management'))) return notRead('native')
  const messages = spans.get('messages')
  const isEmpty = history === null || (history.length === 0 && known === null)
  if (messages === undefined || history === null || isEmpty) return notRead('no-messages')
  const system = systemOf(source, found)
  const isStreamed = values.get('stream') === true
  const model = values.get('model')
  return {
    read: true,
    body: {
      model: typeof model === 'string' ? model : null,
      modelPlace: modelPlaceIn(found),
      fieldNames: [...spans.keys()],
      isStreamed,
      history: { start: messages.start, end: messages.end },
      canGoOn: true,
      entrySpans: yield* wholeMessages(source, history),
      outputLimit: limitOf(source, found),
      outputLeastTokens: budgetIn(values.get('thinking')) + 1,
      repliesWanted: 1,
      system,
      billingLine: system === null ? null : billingLineIn(source, system),
      tools: spanOpening('[', source, spans.get('tools')),
      legacyTools: null,
      schema: schemaOf(source, found),
      isToolForced: isToolForced(values.get('tool_choice')),
      wantsStaleRefused: wantsStaleRefused(values.get('thinking')),
      showsUsage: true,
      usageRequest: null,
      withoutStreaming: isStreamed ? withoutStreamingOf(source, spans, members) : null,
    },
  }
}

/** A chat may have messages of the same texts; but no system beside them, no such tools and no such blocks. */
export function isMessagesBody(source: Source, { fieldNames, tools, history }: BodyFacts): boolean {
  if (fieldNames.some((name) => ownFields.has(name))) return true
  if (tools !== null && ownTool.test(source.latin1(tools.start, tools.end))) return true
  return ownBlock.test(source.latin1(history.start, history.end))
}

// --- internal ---

/** Whether the server is asked to take more out of the history than thoughts. */
function editsItself(management: unknown): boolean {
  const edits: unknown = isJsonObject(management) ? management['edits'] : null
  return (
    Array.isArray(edits) &&
    edits.some((edit) => isJsonObject(edit) && shorteningEdit.test(stringOr(edit['type'], '')))
  )
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

function limitOf(source: Source, found: BodyMembers): OutputLimit | null {
  const limit = outputLimitOf('max_tokens', found)
  const thinking = spanOpening('{', source, found.spans.get('thinking'))
  const value = thinking === null ? null : valueIn(source, thinking, 'budget_tokens')
  if (limit === null || value === null) return limit
  const tokens = Number(source.latin1(value.start, value.end))
  // Where thinking goes on between calls it may have more than one reply: that is left as it is.
  if (!(tokens < limit.tokens)) return limit
  return { ...limit, thinking: { tokens, tokensMin: THINKING_TOKENS_MIN, value } }
}

function systemOf(source: Source, { spans }: BodyMembers): BodyFacts['system'] {
  const system = spans.get('system')
  return system !== undefined && /^["[]$/.test(firstOf(source, system)) ? system : null
}

/** The form of the reply, where it has to keep to a schema. */
function schemaOf(source: Source, { spans }: BodyMembers): BodyFacts['schema'] {
  const config = spanOpening('{', source, spans.get('output_config'))
  const format = config === null ? null : valueIn(source, config, 'format')
  if (config !== null && format !== null && firstOf(source, format) === '{')
    return { ...format, elements: config.elements }
  return spanOpening('{', source, spans.get('output_format'))
}

function isToolForced(choice: unknown): boolean {
  return isJsonObject(choice) && (choice['type'] === 'any' || choice['type'] === 'tool')
}
