import {
  bytesOfTokens,
  openConversation,
  USUAL_ROUND_BYTES,
} from '../../conversations/growing-conversation.ts'
import { checkOf } from '../check-of.ts'
import { makeKnown, takeTurns } from '../../conversations/turns.ts'
import { median, slopeOf, spreadOf } from '../../figures.ts'
import type { Check, MeasureOptions, Table } from '../../section.ts'
import { shown, shownSpread } from '../../shown.ts'
import type { Subject } from '../../subjects/subject.ts'
import type { WarmSubjects } from './by-size.ts'

const TOKENS = 1_000_000
const STEPS = 8
const WARM_TURNS = 8
/** About as many as there are from one compaction to the next, so that no size is measured at one place of that way only. */
const TURNS = 56

/** One conversation that grows to about 1,000,000 tokens: how the cost of a warm turn grows with it. */
export async function byGrowth(
  { buffered, foldgate }: WarmSubjects,
  { effort, tell }: MeasureOptions,
): Promise<{ readonly tables: readonly Table[]; readonly check: Check }> {
  const compared = [buffered, foldgate]
  const bytes = await bytesOfTokens(TOKENS)
  const rounds: (readonly Point[])[] = []
  for (let round = 0; round < effort.rounds; round += 1) {
    tell(`a conversation that grows to 1,000,000 tokens, ${round + 1} of ${effort.rounds}`)
    const conversation = openConversation({ seed: 200 + round })
    const points: Point[] = []
    for (let step = 1; step <= STEPS; step += 1) {
      conversation.growTo((bytes * step) / STEPS)
      for (const subject of compared) await makeKnown(subject, conversation, WARM_TURNS)
      const before = { megabytes: conversation.bodyBytes() / 1_000_000, messages: conversation.messages() }
      const turns = await takeTurns({
        subjects: compared,
        conversation,
        grow: () => conversation.addRound(USUAL_ROUND_BYTES),
        turnsMin: TURNS,
        durationMs: 0,
      })
      points.push({ ...before, mediansMs: turns.map((each) => each.medianMs) })
    }
    rounds.push(points)
  }
  const slopes = compared.map((_, index) =>
    rounds.map((points) =>
      slopeOf(
        points.map(({ megabytes, mediansMs }) => ({ x: megabytes, y: mediansMs[index] ?? Number.NaN })),
      ),
    ),
  )
  const [bufferedSlopes = [], foldgateSlopes = []] = slopes
  const ratios = foldgateSlopes.map((slope, index) => slope / (bufferedSlopes[index] ?? Number.NaN))
  return {
    tables: [costTable(rounds, compared), slopeTable(slopes, compared)],
    check: checkOf(
      'warm-slope',
      `How a warm turn's time grows with the conversation, up to 1,000,000 tokens, against passing it on buffered`,
      { kind: 'at most', value: 1.2 },
      ratios,
    ),
  }
}

// --- internal ---

type Point = {
  readonly megabytes: number
  readonly messages: number
  /** In the order of the subjects. */
  readonly mediansMs: readonly number[]
}

function costTable(rounds: readonly (readonly Point[])[], compared: readonly Subject[]): Table {
  const rows = Array.from({ length: STEPS }, (_, step) => {
    const points = rounds.flatMap((round) => round[step] ?? [])
    return [
      `${((TOKENS / 1_000) * (step + 1)) / STEPS},000`,
      shown(median(points.map(({ megabytes }) => megabytes))),
      String(median(points.map(({ messages }) => messages))),
      ...compared.flatMap((_subject, index) => {
        const mediansMs = points.map((point) => point.mediansMs[index] ?? Number.NaN)
        return [shown(median(mediansMs)), shownSpread(spreadOf(mediansMs))]
      }),
    ]
  })
  return {
    caption: 'A warm turn of one conversation that grows',
    columns: [
      'tokens, about',
      'body MB',
      'messages',
      ...compared.flatMap(({ name }) => [`${name}, ms`, 'in the rounds']),
    ],
    rows,
  }
}

function slopeTable(slopes: readonly (readonly number[])[], compared: readonly Subject[]): Table {
  return {
    caption: 'Least-squares slope of that',
    columns: ['subject', 'ms for each MB', 'in the rounds'],
    rows: compared.map(({ name }, index) => [
      name,
      shown(median(slopes[index] ?? [])),
      shownSpread(spreadOf(slopes[index] ?? [])),
    ]),
  }
}
