import type { Job, JobReport, ReplayedDialect } from './job.ts'

/** What the command line leaves of the configurations; null: all of them. */
export type Filter = {
  readonly window: string | null
  readonly template: string | null
  readonly dialect: ReplayedDialect
}

/** The replays of every request. */
export function jobsOf(filter: Filter): readonly Job[] {
  const { dialect } = filter
  const all = dialect === 'chat-completions' ? chatJobs() : livedJobs(dialect)
  return all.filter((one) => passes(one, filter))
}

/** What is compared with those replays once they are done. */
export function laterJobsOf(filter: Filter, replays: readonly JobReport[]): readonly Job[] {
  if (filter.dialect !== 'chat-completions') return []
  const known = replays.filter(({ configuration }) => isPlain(configuration))
  const cold = known.flatMap(({ configuration, sample }) => [
    { ...configuration, kind: 'cold' as const, expected: sample },
    { ...configuration, kind: 'cold-changed' as const, expected: sample },
  ])
  const own = WINDOWS.flatMap((windowTokens) => [
    job({ kind: 'changed', windowTokens }),
    job({ kind: 'clock', windowTokens }),
  ])
  return [...cold, ...own.filter((one) => passes(one, filter))]
}

/** What a filter may ask for. */
export function windowsThereAre(): readonly string[] {
  return WINDOWS.map(String)
}

export function templatesThereAre(): readonly string[] {
  return [...new Set(chatJobs().map((one) => one.profileTemplate))]
}

// --- internal ---

const WINDOWS = [8000, 16_000, 32_000]
const TEMPLATES = ['lenient', 'strict'] as const

function chatJobs(): readonly Job[] {
  const all: Job[] = WINDOWS.toReversed().flatMap((windowTokens) =>
    TEMPLATES.map((template) => job({ windowTokens, profileTemplate: template, upstreamTemplate: template })),
  )
  const special = [
    job({ windowTokens: 8000, statesUsage: true }),
    job({ windowTokens: 8000, profileTemplate: 'auto', upstreamTemplate: 'strict', statesUsage: true }),
    job({ windowTokens: 16_000, isWindowKnown: false, statesUsage: true }),
  ]
  return [...all, ...special]
}

/** These APIs have one template, and state usage unasked. */
function livedJobs(dialect: ReplayedDialect): readonly Job[] {
  const lived = { dialect, statesUsage: true }
  return [
    ...WINDOWS.toReversed().map((windowTokens) => job({ ...lived, windowTokens })),
    job({ ...lived, isWindowKnown: false }),
  ]
}

function job(given: Partial<Job>): Job {
  return {
    kind: 'replay',
    dialect: 'chat-completions',
    windowTokens: 16_000,
    profileTemplate: 'lenient',
    upstreamTemplate: 'lenient',
    isWindowKnown: true,
    statesUsage: false,
    expected: {},
    ...given,
  }
}

/** A run whose numbers are the same from its first request on, so that a cold one can be compared with it. */
function isPlain(one: Job): boolean {
  return one.isWindowKnown && !one.statesUsage && one.profileTemplate === one.upstreamTemplate
}

function passes(one: Job, filter: Filter): boolean {
  const isWindow = filter.window === null || filter.window === String(one.windowTokens)
  return isWindow && (filter.template === null || filter.template === one.profileTemplate)
}
