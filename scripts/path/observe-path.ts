import { Session } from 'node:inspector/promises'
import { setTimeout as wait } from 'node:timers/promises'

/** The files of `src` that were run, by their paths in it, each with the names of the functions that ran. */
export type Path = readonly { readonly file: string; readonly functions: readonly string[] }[]

/** What a piece of work runs, and what it leaves to be done after it. */
export async function observePath(work: () => Promise<void>): Promise<Path> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  // What began before has ended by now.
  await wait(SETTLED_MS)
  await session.post('Profiler.takePreciseCoverage')
  await work()
  await wait(SETTLED_MS)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
  return result
    .filter(({ url }) => url.startsWith(SOURCES) && !url.startsWith(`${SOURCES}commands/demo/`))
    .map(({ url, functions }) => ({
      file: url.slice(SOURCES.length),
      functions: functions
        .filter(({ ranges }) => ranges.some(({ count }) => count > 0))
        // A module's own body is none of its functions.
        .filter(({ ranges, functionName }) => functionName !== '' || ranges[0]?.startOffset !== 0)
        .map(({ functionName }) => (functionName === '' ? '(anonymous)' : functionName)),
    }))
    .filter(({ functions }) => functions.length > 0)
    .toSorted((left, right) => (left.file < right.file ? -1 : 1))
}

// --- internal ---

const SOURCES = new URL('../../src/', import.meta.url).href

/** What is told of a request is gathered for some time before it is written, in milliseconds. */
const SETTLED_MS = 400
