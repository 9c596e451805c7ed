import { chatCompletions } from '../../../src/dialects/chat-completions/chat-completions.ts'
import { modelKeyOf } from '../../../src/models/model-key.ts'
import type { Measure } from '../../../src/request/request.ts'
import { createFactsReader } from '../../../src/dialects/entry-facts.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import type { Counts } from '../../../src/models/counts/counts.ts'
import { startingRatio } from '../../../src/tokens/families.ts'
import { resolveWindow } from '../../../src/models/resolve-window.ts'
import { profileSchema } from '../../../src/profiles/schema.ts'
import { digest } from '../../../src/request/read/body-source.ts'
import { createMeasure } from '../../../src/request/measure/measure.ts'
import { readBytes } from '../../../src/request/read/read-chat.ts'
import { originalForm } from '../../../src/request/compact/forms.ts'
import { describeSent, promptTokensOf } from '../../../src/request/measure/sent-prompt.ts'
import { unknownWindow } from '../../support/models.ts'
import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { readLines } from '../harness/recordings.ts'

/** A recorded conversation whose provider said how large its prompts were. */
export type CountedRecording = {
  readonly id: string
  readonly model: string
  /** The JSON of each message. */
  readonly messages: readonly string[]
  /** The JSON of `tools`; '' where there are none. */
  readonly tools: string
  /** Ascending. */
  readonly requests: readonly CountedRequest[]
}

export type CountedRequest = {
  /** How many messages it carried. */
  readonly messageCount: number
  /** What the provider counted of them. */
  readonly promptTokens: number
}

/** The conversations of a folder that have `usage` rows. */
export function readCountedRecordings(folder: string): readonly CountedRecording[] {
  return readLines(folder, null).flatMap(({ line, row: { id, model, usage, messages: said } }) => {
    if (!Array.isArray(usage) || !Array.isArray(said)) return []
    const { messages, tools } = cutRawRequest(line)
    return [{ id: String(id), model: String(model), messages, tools, requests: usage.flatMap(requestOf) }]
  })
}

/** What was believed of a request before its answer, and what the provider then said. */
export type Believed = {
  readonly promptTokens: number
  readonly expectedTokens: number
  /** The same without any calibration: our count times the family's ratio. */
  readonly uncalibratedTokens: number
  /** What the decision over a further compaction takes it for. */
  readonly decidedTokens: number
}

/**
 * Measures every request of a conversation as the proxy does, and lets the calibration learn from each
 * answer before the next.
 */
export async function measureRecording(
  recording: CountedRecording,
  counts: Counts,
): Promise<readonly Believed[]> {
  const measure = createMeasure({
    counts,
    wantsCount: () => false,
    takesBeyond: () => false,
    onGuess: () => {},
  })
  const readFacts = createFactsReader(digest, { entriesMax: 100_000 })
  const { model } = recording
  const profile = { ...profileSchema.parse({}), name: 'default' }
  const window = resolveWindow({ ...unknownWindow, configuredTokens: 10_000_000, names: [model] })
  const believed: Believed[] = []
  for (const { messageCount, promptTokens } of recording.requests) {
    const messages = recording.messages.slice(0, messageCount).join(',')
    const tools = recording.tools === '' ? '' : `,"tools":${recording.tools}`
    const bytes = Buffer.from(`{"model":${JSON.stringify(model)},"messages":[${messages}]${tools}}`)
    const chat = await readBytes(chatCompletions, bytes, 'recorded', { readFacts, limits: bodyLimits })
    if (typeof chat === 'string') throw new Error(`${recording.id} cannot be read: ${chat}`)
    const measured = await measure(
      {
        chat,
        profile,
        modelKey: modelKeyOf('default', '', model, 'http://upstream'),
        place: { scope: 'recorded' },
        recall: null,
        remembered: { conversation: recording.id, compaction: null },
      },
      { model, window, mustCount: true },
    )
    const prepared = originalForm(chat, measured.incomingTokens)
    const { counted, prompt, textBytes } = describeSent(chat, 'recorded', measured, prepared)
    if (counted === null) throw new Error('the request was not counted')
    believed.push({
      promptTokens,
      expectedTokens: promptTokensOf(measured, prepared),
      uncalibratedTokens: measured.incomingTokens * startingRatio(model).ratio,
      decidedTokens: decidedTokens(measured),
    })
    counts.observe(measured.counting, prompt, {
      textBytes,
      counted,
      promptTokens,
      answeredBy: model,
      since: counted.anchor,
    })
  }
  return believed
}

// --- internal ---

/** `[index, prompt, output]`, or Anthropic's `[index, input, cache read, cache write, output]`. */
function requestOf(row: unknown): readonly CountedRequest[] {
  const figures = Array.isArray(row) ? row.map(Number) : []
  const [messageCount, ...counts] = figures
  if (messageCount === undefined || counts.length < 2) return []
  return [{ messageCount, promptTokens: counts.slice(0, -1).reduce((sum, tokens) => sum + tokens, 0) }]
}

/** What is held against the budget: what surrounds the messages and the messages, corrected by what was counted. */
function decidedTokens({ rate, counted }: Measure): number {
  if (counted === null) return 0
  const { room, conversationTokens, differenceTokens } = counted
  return (room.aroundTokens + conversationTokens + differenceTokens) * rate.ratio
}
