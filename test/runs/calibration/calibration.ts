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
import { freshCounts } from '../../support/models.ts'
import { refuse, runCommand, say } from '../harness/command.ts'
import {
  measureRecording,
  readCountedRecordings,
  type Believed,
  type CountedRecording,
} from './measured-recording.ts'

/** After so many answers of the conversation. */
const answersBefore = [0, 1, 2, 5, 20]
/** Promised from so many on: the largest error in the median and at the 95th percentile. */
const promisedAfter = 1
const medianMax = 0.005
const percentile95Max = 0.025
/** A request that is believed to fill this share of the window is inside it: of those none may be beyond. */
const believedShare = 0.95

await runCommand(([folder]) => measureFolder(folder))

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
