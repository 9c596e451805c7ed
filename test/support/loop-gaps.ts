import { z } from 'zod'
import type { FoldgateProgram } from './foldgate-program.ts'
import type { LoopReport } from './watch-loop.ts'

/** What Node is given to load the watch into a program. */
export const watchingFlags: readonly string[] = ['--import', new URL('watch-loop.ts', import.meta.url).href]

const turn = z.object({
  workMs: z.number(),
  garbageMs: z.number(),
  beganMicros: z.number(),
  endedMicros: z.number(),
})

/** What the watch tells. */
export const loopReport: z.ZodType<LoopReport> = z.object({ longest: turn, longestWithoutGarbage: turn })

/** The turns of its event loop with the most work since the last time this was asked; null where it has ended. */
export async function takeLoopReport(program: FoldgateProgram): Promise<LoopReport | null> {
  const told = await program.ask('take')
  return told === null ? null : loopReport.parse(told)
}
