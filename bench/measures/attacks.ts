import { attacks as all } from '../../test/runs/attacks/all.ts'
import { checkOf } from './check-of.ts'
import { GAP_MS_MAX, manners, megabytes, runAttack, type Blow } from '../../test/runs/attacks/run-attack.ts'
import { openAttackedProgram } from '../../test/runs/attacks/target.ts'
import { median, spreadOf } from '../figures.ts'
import type { Measure } from '../section.ts'
import { shown, shownSpread } from '../shown.ts'

/** Of each kind the one that took the longest. */
const chosen: ReadonlySet<string> = new Set([
  'objects in an unknown field, gzip',
  'tiny messages',
  'parts of one message',
  'a text of prose',
  'thoughts in reasoning_content',
  'terminal output: cursor movement',
  'a long function name',
  'depth, brotli',
])

/** The longest that one request holds the event loop, whatever it contains. */
export const attacks: Measure = {
  name: 'attacks',
  run: async ({ effort, tell }) => {
    const tried = all.filter(({ name }) => chosen.has(name))
    const rounds: (readonly Blow[])[] = []
    for (let round = 0; round < effort.rounds; round += 1) {
      const blows: Blow[] = []
      for (const attack of tried) {
        tell(`${attack.name}, ${round + 1} of ${effort.rounds}`)
        const target = await openAttackedProgram(attack)
        try {
          const [manner] = manners
          if (manner !== undefined)
            blows.push(
              await runAttack(target, attack, {
                manner,
                share: effort.isQuick ? 0.2 : 1,
                client: attack.name,
              }),
            )
        } finally {
          await target.close()
        }
      }
      rounds.push(blows)
    }
    const longestMs = rounds.map((blows) => Math.max(...blows.map(gapOf)))
    return {
      name: 'attacks',
      title: 'What one request can do to others',
      about: `Bodies that are made to hold the event loop, each to a program of its own that has just started: in the container of the sidecar example, 512 MiB, by its settings, or with bodies of up to 64 MB in a roomier one. A turn of the loop is measured by the processor time of the main thread. \`npm run attacks\` tries seven times as many, in five manners.`,
      tables: [
        {
          caption: 'The longest turn of the loop',
          columns: [
            'body',
            'bytes sent',
            'longest turn, ms',
            'in the rounds',
            'with garbage collection, ms',
            'a neighbour, median ms',
            'longest ms',
            'peak MB',
          ],
          rows: tried.map(({ name }, index) => {
            const blows = rounds.flatMap((round) => round[index] ?? [])
            return [
              name,
              String(blows[0]?.bytes ?? 0),
              shown(median(blows.map(gapOf))),
              shownSpread(spreadOf(blows.map(gapOf))),
              shown(median(blows.map(({ loop }) => loop?.longest.workMs ?? Number.NaN))),
              shown(median(blows.map(({ neighbour }) => neighbour.medianMs))),
              shown(median(blows.map(({ neighbour }) => neighbour.longestMs))),
              megabytes(Math.max(...blows.map(({ memoryBytes }) => memoryBytes ?? 0))),
            ]
          }),
        },
      ],
      checks: [
        checkOf(
          'attacks-gap',
          'The longest that one request holds the event loop, garbage collection left out, in milliseconds of processor time',
          { kind: 'at most', value: GAP_MS_MAX },
          longestMs,
        ),
      ],
    }
  },
}

// --- internal ---

/** Infinite where the program has ended. */
function gapOf({ loop }: Blow): number {
  if (loop === null) return Number.POSITIVE_INFINITY
  const { workMs, garbageMs } = loop.longestWithoutGarbage
  return workMs - garbageMs
}
