import { openConnection } from '../../load/load.ts'
import { takeStream } from '../../load/paced.ts'
import type { Subject } from '../../subjects/subject.ts'
import { streamRequests } from './scenarios.ts'

const CHUNKS = 3

/** Asks all subjects at the same time for a stream whose upstream says nothing at first. Tells what came of each. */
export function askSilentUpstream(
  subjects: readonly Subject[],
  silenceMs: number,
): Promise<readonly (readonly [string, string])[]> {
  return Promise.all(
    subjects.map(async (subject) => [subject.name, await outcomeOf(subject, silenceMs)] as const),
  )
}

// --- internal ---

async function outcomeOf(subject: Subject, silenceMs: number): Promise<string> {
  const startedMs = performance.now()
  const seconds = (): string => `${((performance.now() - startedMs) / 1000).toFixed(1)} s`
  const request = streamRequests(subject, { chunks: CHUNKS, gapMs: 10, silenceMs }, 1)
  const { ask, close } = await openConnection(subject.origin)
  try {
    await takeStream(ask, request(0), CHUNKS)
    return `whole after ${seconds()}`
  } catch (error) {
    // Not the bench's failure: it is what is measured.
    return `not whole after ${seconds()}: ${error instanceof Error ? error.message : String(error)}`
  } finally {
    close()
  }
}
