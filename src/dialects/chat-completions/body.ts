import type { BodyLimits, KnownHistory, ValueSpan } from '../../conversation/body-spans.ts'
import { isJsonObject } from '../../conversation/json-value.ts'
import type { Source, Steps } from '../../conversation/source.ts'
import {
  emptySpan,
  isForced,
  modelPlaceIn,
  notRead,
  outputLimitOf,
  positiveInteger,
  readMembers,
  spanOpening,
  withoutStreamingOf,
} from '../body-members.ts'
import type { BodyEdit, BodyFacts, NotRead } from '../contract.ts'
import { wantsStaleRefused } from '../thought-refusals.ts'

/** What is parsed for what it says; every other value only has to be JSON. */
const readNames: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'n',
  'tool_choice',
  'thinking',
  'function_call',
])

/** Reads the body of a chat completion request around its messages. */
export function* readChatBody(
  source: Source,
  limits: BodyLimits,
  known: KnownHistory | null,
): Steps<{ readonly read: true; readonly body: BodyFacts } | NotRead> {
  const found = yield* readMembers(source, { history: 'messages', content: null }, readNames, limits, known)
  if (!found.read) return found
  const { spans, values, members, history: messageSpans } = found
  const messages = spans.get('messages')
  const isEmpty = messageSpans === null || (messageSpans.length === 0 && known === null)
  if (messages === undefined || messageSpans === null || isEmpty) return notRead('no-messages')
  const isStreamed = values.get('stream') === true
  const streamOptions = values.get('stream_options')
  const model = values.get('model')
  const tools = spanOpening('[', source, spans.get('tools'))
  return {
    read: true,
    body: {
      model: typeof model === 'string' ? model : null,
      modelPlace: modelPlaceIn(found),
      fieldNames: [...spans.keys()],
      isStreamed,
      // How much is in it is not the same where some of it was known.
      history: { start: messages.start, end: messages.end },
      canGoOn: true,
      entrySpans: messageSpans,
      outputLimit: outputLimitOf('max_completion_tokens', found) ?? outputLimitOf('max_tokens', found),
      outputLeastTokens: 1,
      repliesWanted: positiveInteger(values.get('n')) ?? 1,
      system: null,
      billingLine: null,
      tools,
      legacyTools: spanOpening('[', source, spans.get('functions')),
      schema: spanOpening('{', source, spans.get('response_format')),
      isToolForced: isForced(values.get('tool_choice')) || isForced(values.get('function_call')),
      wantsStaleRefused: wantsStaleRefused(values.get('thinking')),
      showsUsage: isJsonObject(streamOptions) && streamOptions['include_usage'] === true,
      usageRequest: isStreamed ? usageRequestOf(spans, streamOptions) : null,
      withoutStreaming: isStreamed ? withoutStreamingOf(source, spans, members) : null,
    },
  }
}

// --- internal ---

/** `streamOptions` as they were parsed; undefined if there are none. */
function usageRequestOf(spans: ReadonlyMap<string, ValueSpan>, streamOptions: unknown): BodyEdit | null {
  const stream = spans.get('stream')
  const options = spans.get('stream_options')
  if (stream === undefined) return null
  if (options === undefined) return { at: emptySpan(stream.end), text: `,"stream_options":{${askForUsage}}` }
  if (streamOptions === null) return { at: options, text: `{${askForUsage}}` }
  if (!isJsonObject(streamOptions) || Object.hasOwn(streamOptions, 'include_usage')) return null
  const isEmpty = Object.keys(streamOptions).length === 0
  return { at: emptySpan(options.start + 1), text: isEmpty ? askForUsage : `${askForUsage},` }
}

const askForUsage = '"include_usage":true'
