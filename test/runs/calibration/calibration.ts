/**
 * How far Foldgate's count of a prompt is from the provider's, on recorded conversations: before any answer, and
 * after the first few.
 *
 *   node test/runs/calibration/calibration.ts FOLDER
 *
 * FOLDER holds JSON lines, a conversation a line, with `model`, `messages`, perhaps `tools`, and `usage` rows
 * `[messages, prompt tokens, output tokens]`; nothing of it is copied. Every request is measured as the proxy
 * does it, and the calibration learns from each answer before the next.
 *
 * Prints a table a model; exits with 1 where it misses what is promised, and if there was nothing to measure.
 */
import { chatCompletions } from '../../../src/formats/chat/chat.ts'
import { createFactsReader } from '../../../src/formats/entry-facts.ts'
import type { Counts } from '../../../src/models/counts/counts.ts'
import { modelKeyOf } from '../../../src/models/model-record.ts'
import { resolveWindow } from '../../../src/models/resolve-window.ts'
import { profileSchema } from '../../../src/profiles/schema.ts'
import { originalForm } from '../../../src/pipeline/compact/forms.ts'
import { createMeasure } from '../../../src/pipeline/measure/measure.ts'
import { describeSent, promptTokensOf } from '../../../src/pipeline/measure/sent-prompt.ts'
import { digest } from '../../../src/pipeline/read/read-chat.ts'
import { readBytes } from '../../../src/pipeline/read/read-chat.ts'
import type { Measure } from '../../../src/pipeline/request.ts'
import { startingRatio } from '../../../src/tokens/tokenizer-families.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { freshCounts, unknownWindow } from '../../support/models.ts'
import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { refuse, runCommand, say } from '../harness/command.ts'
import { readLines } from '../harness/recordings.ts'

/** After so many answers of the conversation. */
const answersBefore = [0, 1, 2, 5, 20]
/** Promised from so many on: the largest error in the median and at the 95th percentile. */
const promisedAfter = 1
const medianMax = 0.005
const percentile95Max = 0.025
/** A request that is believed to fill this share of the window is inside it: of those none may be beyond. */
const believedShare = 0.95

async function measureFolder(folder: string | undefined): Promise<boolean> {
  if (folder === undefined) refuse('Which recordings? node test/runs/calibration/calibration.ts FOLDER')
  const models = Map.groupBy(readCountedRecordings(folder), ({ model }) => model)
  if (models.size === 0) refuse(`There are no conversations with usage rows in ${folder}.`)
  let misses = 0
  for (const [model, recordings] of models) misses += await measureModel(model, recordings)
  say(misses === 0 ? 'as promised' : `${misses} promises missed`)
  return misses === 0
}

/** Returns how many promises were missed. */
async function measureModel(model: string, recordings: readonly CountedRecording[]): Promise<number> {
  const alone: (readonly Believed[])[] = []
  const together: (readonly Believed[])[] = []
  const shared = freshCounts(100_000)
  for (const recording of recordings) {
    alone.push(await measureRecording(recording, freshCounts(100_000)))
    together.push(await measureRecording(recording, shared))
  }
  say(`${model}: ${alone.length} conversations, ${alone.flat().length} requests`)
  say('                              median    95th   worst   beyond the window at 95 %')
  tell('all without calibration', alone.flat().map(uncalibrated))
  let misses = 0
  for (const answers of answersBefore) {
    tell(
      `request after ${answers} answers`,
      alone.flatMap((believed) => believed.slice(answers, answers + 1)),
    )
    const rest = alone.flatMap((believed) => believed.slice(answers))
    const { median, percentile95, beyond } = tell(`all requests after ${answers}`, rest)
    const isExact = median <= medianMax && percentile95 <= percentile95Max
    if (answers >= promisedAfter && !(isExact && beyond === 0)) misses += 1
  }
  const first = together.slice(1).flatMap((believed) => believed.slice(0, 1))
  if (first.length > 0) tell('first of a new conversation', first)
  return misses
}

function uncalibrated(believed: Believed): Believed {
  const { uncalibratedTokens } = believed
  return { ...believed, expectedTokens: uncalibratedTokens, decidedTokens: uncalibratedTokens }
}

function tell(name: string, believed: readonly Believed[]) {
  const errors = believed
    .map(({ promptTokens, expectedTokens }) => Math.abs(expectedTokens / promptTokens - 1))
    .toSorted((one, other) => one - other)
  const at = (share: number) => errors[Math.min(errors.length - 1, Math.floor(errors.length * share))] ?? 0
  const beyond = believed.filter((each) => each.promptTokens * believedShare > each.decidedTokens).length
  const [median, percentile95, worst] = [at(0.5), at(0.95), at(1)]
  const figures = [median, percentile95, worst].map((share) => `${(share * 100).toFixed(2)} %`.padStart(8))
  say(`  ${name.padEnd(27)}${figures.join('')}   ${beyond} of ${believed.length}`)
  return { median, percentile95, beyond }
}

/** A recorded conversation whose provider said how large its prompts were. */
type CountedRecording = {
  readonly id: string
  readonly model: string
  /** The JSON of each message. */
  readonly messages: readonly string[]
  /** The JSON of `tools`; '' where there are none. */
  readonly tools: string
  /** Ascending. */
  readonly requests: readonly CountedRequest[]
}

type CountedRequest = {
  /** How many messages it carried. */
  readonly messageCount: number
  /** What the provider counted of them. */
  readonly promptTokens: number
}

/** The conversations of a folder that have `usage` rows. */
const readCountedRecordings = (folder: string): readonly CountedRecording[] =>
  readLines(folder, null).flatMap(({ line, row: { id, model, usage, messages: said } }) => {
    if (!Array.isArray(usage) || !Array.isArray(said)) return []
    const { messages, tools } = cutRawRequest(line)
    return [{ id: String(id), model: String(model), messages, tools, requests: usage.flatMap(requestOf) }]
  })

/** What was believed of a request before its answer, and what the provider then said. */
type Believed = {
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
async function measureRecording(recording: CountedRecording, counts: Counts): Promise<readonly Believed[]> {
  const learning = { wantsCount: () => false }
  const windows = { holdsLimit: () => false }
  const measure = createMeasure({ counts, learning, windows }, () => {})
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
    const answered = { textBytes, counted, promptTokens, answeredBy: model }
    counts.observe(measured.counting, prompt, answered, counted.anchor)
  }
  return believed
}

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

await runCommand(([folder]) => measureFolder(folder))
