import { openConversation } from '../../conversations/growing-conversation.ts'
import { makeKnown, takeTurns } from '../../conversations/turns.ts'
import { median, slopeOf, spreadOf } from '../../figures.ts'
import type { MeasureOptions, Table } from '../../section.ts'
import { shown, shownSpread } from '../../shown.ts'
import type { WarmSubjects } from './by-size.ts'

const newBytes = [2_000, 20_000, 200_000]

/** Around which the bodies stay while each turn adds to them. */
const BODY_BYTES = 4_000_000

const WARM_TURNS = 4
const TURNS = 7

/** The size stays, what is new in a turn grows. */
export async function byNews(
  { buffered, foldgate }: WarmSubjects,
  { effort, tell }: MeasureOptions,
): Promise<readonly Table[]> {
  const compared = [buffered, foldgate]
  /** By what is new, then by round, then by subject. */
  const medians: number[][][] = newBytes.map(() => [])
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const [index, bytes] of newBytes.entries()) {
      tell(`turns that add ${bytes / 1_000} kB, ${round + 1} of ${effort.rounds}`)
      const conversation = openConversation({ seed: 300 + 10 * round + index })
      conversation.growTo(BODY_BYTES - (TURNS * bytes) / 2)
      for (const subject of compared) await makeKnown(subject, conversation, WARM_TURNS)
      const turns = await takeTurns({
        subjects: compared,
        conversation,
        grow: () => conversation.addRound(bytes),
        turnsMin: TURNS,
        durationMs: 0,
      })
      medians[index]?.push(turns.map(({ medianMs }) => medianMs))
    }
  }
  const slopes = compared.map((_, subject) =>
    Array.from({ length: effort.rounds }, (_unused, round) =>
      slopeOf(
        newBytes.map((bytes, index) => ({
          x: bytes / 1_000,
          y: medians[index]?.[round]?.[subject] ?? Number.NaN,
        })),
      ),
    ),
  )
  return [
    {
      caption: 'A warm turn at 4 MB by what is new in it, compactions included',
      columns: ['new kB', ...compared.flatMap(({ name }) => [`${name}, ms`, 'in the rounds'])],
      rows: newBytes.map((bytes, index) => [
        String(bytes / 1_000),
        ...compared.flatMap((_, subject) => {
          const own = (medians[index] ?? []).map((round) => round[subject] ?? Number.NaN)
          return [shown(median(own)), shownSpread(spreadOf(own))]
        }),
      ]),
    },
    {
      caption: 'Least-squares slope of that',
      columns: ['subject', 'ms for each new kB', 'in the rounds'],
      rows: compared.map(({ name }, index) => [
        name,
        shown(median(slopes[index] ?? [])),
        shownSpread(spreadOf(slopes[index] ?? [])),
      ]),
    },
  ]
}
