import type { BodyLimits, KnownHistory } from '../../conversation/body-spans.ts'
import { isJsonObject, isPresent } from '../../conversation/json-value.ts'
import type { Source, Steps } from '../../conversation/source.ts'
import {
  isForced,
  modelPlaceIn,
  notRead,
  outputLimitOf,
  readMembers,
  spanOpening,
  withoutStreamingOf,
  type BodyMembers,
} from '../body-members.ts'
import { firstOf, valueIn } from '../content/slot-edits.ts'
import type { BodyFacts, NotRead } from '../contract.ts'

/** What is parsed for what it says; every other value only has to be JSON. */
const readNames: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'max_output_tokens',
  'store',
  'tool_choice',
  'previous_response_id',
  'conversation',
  'context_management',
])

/** Reads the body of a request for a response around its input. */
export function* readResponsesBody(
  source: Source,
  limits: BodyLimits,
  known: KnownHistory | null,
): Steps<{ readonly read: true; readonly body: BodyFacts } | NotRead> {
  const found = yield* readMembers(source, { history: 'input', content: null }, readNames, limits, known)
  if (!found.read) return found
  const { spans, values, members, history } = found
  if (isPresent(values.get('previous_response_id')) || isPresent(values.get('conversation')))
    return notRead('stateful')
  // vLLM's: a history in another form, which stands before the input.
  const before = spanOpening('[', source, spans.get('previous_input_messages'))
  if (before !== null && before.elements > 0) return notRead('stateful')
  if (compactsItself(values.get('context_management'))) return notRead('native')
  const input = spans.get('input')
  const text = input !== undefined && firstOf(source, input) === '"' ? input : null
  const entrySpans = text === null ? history : [{ ...text, keys: 0, longStrings: [text] }]
  const isEmpty = entrySpans === null || (entrySpans.length === 0 && known === null)
  if (input === undefined || entrySpans === null || isEmpty) return notRead('no-messages')
  const isStreamed = values.get('stream') === true
  const model = values.get('model')
  return {
    read: true,
    body: {
      model: typeof model === 'string' ? model : null,
      modelPlace: modelPlaceIn(found),
      fieldNames: [...spans.keys()],
      isStreamed,
      history: { start: input.start, end: input.end },
      canGoOn: text === null && values.get('store') === false,
      entrySpans,
      outputLimit: outputLimitOf('max_output_tokens', found),
      outputLeastTokens: 1,
      repliesWanted: 1,
      system: systemOf(source, found),
      billingLine: null,
      tools: spanOpening('[', source, spans.get('tools')),
      legacyTools: null,
      schema: schemaOf(source, found),
      isToolForced: isForced(values.get('tool_choice')),
      wantsStaleRefused: false,
      showsUsage: true,
      usageRequest: null,
      withoutStreaming: isStreamed ? withoutStreamingOf(source, spans, members) : null,
    },
  }
}

// --- internal ---

/** Whether the server is asked to compact the history from some size on. */
function compactsItself(management: unknown): boolean {
  const edits = Array.isArray(management) ? management : [management]
  return edits.some((edit: unknown) => isJsonObject(edit) && edit['type'] === 'compaction')
}

function systemOf(source: Source, { spans }: BodyMembers): BodyFacts['system'] {
  const instructions = spans.get('instructions')
  const isSaid = instructions !== undefined && /^["[]$/.test(firstOf(source, instructions))
  return isSaid ? instructions : null
}

/** The form of the reply, if it is another than text. */
function schemaOf(source: Source, { spans }: BodyMembers): BodyFacts['schema'] {
  const text = spanOpening('{', source, spans.get('text'))
  const format = text === null ? null : valueIn(source, text, 'format')
  if (text === null || format === null || firstOf(source, format) !== '{') return null
  const type = valueIn(source, format, 'type')
  const isText = type === null || source.latin1(type.start, type.end) === '"text"'
  return isText ? null : { ...format, elements: text.elements }
}
