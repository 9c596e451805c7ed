import { hash } from 'node:crypto'
import type { Template } from '../../support/strict-upstream/message-rules.ts'
import type { LivedDialect, RunDialect } from '../harness/lived.ts'
import type { Temperament } from '../harness/ollama.ts'
import type { Exchange, ReceivedRequest } from '../harness/stage.ts'
import type { Tally } from './table.ts'

/**
 * `replay`: every request point of every conversation, plain and streamed. `cold`: single ones of a sample, without records,
 * compared with what `replay` sent there; `cold-changed`: the same with other tools and another output limit. `changed`: a sample
 * whose tools and output limit change half-way; `clock`: one whose system prompt changes at every request.
 */
type JobKind = 'replay' | 'cold' | 'cold-changed' | 'changed' | 'clock'

export type Job = {
  readonly kind: JobKind
  readonly dialect: RunDialect
  readonly windowTokens: number
  readonly profileTemplate: Template | 'auto'
  readonly upstreamTemplate: Template
  /** Whether Foldgate is told the window; where it is not, refusals have to teach it. */
  readonly isWindowKnown: boolean
  /** What an Ollama makes of a prompt beyond its window; the others refuse it. */
  readonly temperament: Temperament
  /** Whether the upstream says how large prompts were. What it says may add a compaction, and no two runs have heard the same. */
  readonly statesUsage: boolean
  /** For `cold`: what was received in the warm run, by sample key. */
  readonly expected: Sample
}

export type Sample = Readonly<Record<string, Received>>
export type Received = readonly string[]

/** The messages that the upstream received last, as digests: 48 bits tell those of one conversation apart. */
export const receivedIn = ({ received }: Exchange<Pick<ReceivedRequest, 'rawMessages'>>): Received =>
  (received.at(-1)?.rawMessages ?? []).map((text) => hash('sha1', text).slice(0, 12))

export type Failure = {
  readonly job: string
  readonly file: string
  readonly conversation: string
  readonly variant: string
  readonly mode: string
  readonly point: number
  readonly check: string
  readonly detail: string
}

export type JobReport = {
  readonly job: string
  readonly configuration: Job
  readonly kind: JobKind
  readonly tallies: Readonly<Record<string, Tally>>
  readonly failures: readonly Failure[]
  /** A line for each request: what it was, and a digest of each body that was sent for it. */
  readonly bodies: readonly string[]
  readonly sample: Sample
  /** For the comparing kinds: how many were compared, and how many of them were equal. */
  readonly compared: number
  readonly equal: number
  readonly elapsedMs: number
}

/** Whether differences of this kind are told, and no failures: without records, other numbers derive another past. */
export const isInformative = (kind: JobKind): boolean => kind === 'cold-changed'

export function nameOf(named: Job): string {
  const usage = named.statesUsage ? ', usage stated' : ''
  const window = named.isWindowKnown ? String(named.windowTokens) : `${named.windowTokens}, to be learnt`
  const template =
    named.profileTemplate === named.upstreamTemplate
      ? named.profileTemplate
      : `${named.profileTemplate} against ${named.upstreamTemplate}`
  const temperament = named.temperament === 'drops' ? 'dropping what is too long, ' : ''
  const dialect = dialectTitles[named.dialect] + temperament
  return `${named.kind === 'replay' ? '' : `${named.kind}: `}${dialect}window ${window}${usage}, template ${template}`
}

export type Filter = {
  readonly window: string | null
  readonly template: string | null
  readonly dialect: RunDialect
}

export function jobsOf(filter: Filter): readonly Job[] {
  const { dialect } = filter
  const jobs =
    dialect === 'chat-completions' ? chatJobs() : dialect === 'ollama' ? ollamaJobs() : livedJobs(dialect)
  return jobs.filter((one) => passes(one, filter))
}

export function laterJobsOf(filter: Filter, replays: readonly JobReport[]): readonly Job[] {
  const { dialect } = filter
  // Of runs whose numbers are the same from the first request on, so that a cold one can be compared with them.
  const known = replays.filter(
    ({ configuration: { isWindowKnown, statesUsage, profileTemplate, upstreamTemplate } }) =>
      isWindowKnown && !statesUsage && profileTemplate === upstreamTemplate,
  )
  const cold = known.flatMap(({ configuration, sample }) =>
    (['cold', 'cold-changed'] as const).map((kind) => ({ ...configuration, kind, expected: sample })),
  )
  if (dialect !== 'chat-completions') return cold
  const own = windows.flatMap((windowTokens) =>
    (['changed', 'clock'] as const).map((kind) => job({ kind, windowTokens })),
  )
  return [...cold, ...own.filter((one) => passes(one, filter))]
}

const windows: readonly number[] = [8000, 16_000, 32_000]
/** Ollama's clients ask for those that fit a small machine. */
const smallWindows: readonly number[] = [4096, 8192, 16_000]
export const windowsOf = (dialect: RunDialect) => (dialect === 'ollama' ? smallWindows : windows)
export const templates = ['lenient', 'strict', 'auto'] as const

export function job(given: Partial<Job>): Job {
  return {
    kind: 'replay',
    dialect: 'chat-completions',
    windowTokens: 16_000,
    profileTemplate: 'lenient',
    upstreamTemplate: 'lenient',
    isWindowKnown: true,
    temperament: 'errors',
    statesUsage: false,
    expected: {},
    ...given,
  }
}

const dialectTitles = {
  'chat-completions': '',
  responses: 'Responses, ',
  messages: 'Messages, ',
  ollama: 'Ollama, ',
} as const satisfies Record<RunDialect, string>

const chatJobs = (): readonly Job[] => [
  ...windows
    .toReversed()
    .flatMap((windowTokens) =>
      (['lenient', 'strict'] as const).map((template) =>
        job({ windowTokens, profileTemplate: template, upstreamTemplate: template }),
      ),
    ),
  job({ windowTokens: 8000, statesUsage: true }),
  job({ windowTokens: 8000, profileTemplate: 'auto', upstreamTemplate: 'strict', statesUsage: true }),
  job({ windowTokens: 16_000, isWindowKnown: false, statesUsage: true }),
]

/** The window stands in each request, and all state usage; the silent one is there to be compared with. */
const ollamaJobs = (): readonly Job[] => [
  ...smallWindows
    .toReversed()
    .flatMap((windowTokens) =>
      (['errors', 'drops'] as const).map((temperament) =>
        job({ dialect: 'ollama', windowTokens, statesUsage: true, temperament }),
      ),
    ),
  job({ dialect: 'ollama', windowTokens: 8192 }),
]

/** These APIs have one template, and state usage unasked. */
function livedJobs(dialect: LivedDialect): readonly Job[] {
  const lived = { dialect, statesUsage: true }
  return [
    ...windows.toReversed().map((windowTokens) => job({ ...lived, windowTokens })),
    job({ ...lived, isWindowKnown: false }),
  ]
}

function passes(one: Job, filter: Filter): boolean {
  const isWindow = filter.window === null || filter.window === String(one.windowTokens)
  return isWindow && (filter.template === null || filter.template === one.profileTemplate)
}
