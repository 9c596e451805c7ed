import { hash } from 'node:crypto'
import type { Template } from '../../support/strict-upstream/message-rules.ts'
import type { RunDialect } from '../harness/lived.ts'
import type { Exchange, ReceivedRequest } from '../harness/stage.ts'
import type { Tally } from './table.ts'

type JobKind =
  /** Every request point of every conversation, plain and streamed. */
  | 'replay'
  /** Single request points of a sample, without records: compared with what `replay` sent there. */
  | 'cold'
  /** The same with other tools and another output limit. */
  | 'cold-changed'
  /** A sample whose tools and output limit change half-way. */
  | 'changed'
  /** A sample whose system prompt changes at every request. */
  | 'clock'

/** One configuration, replayed in a process of its own. */
export type Job = {
  readonly kind: JobKind
  readonly dialect: RunDialect
  readonly windowTokens: number
  /** Foldgate's profile. */
  readonly profileTemplate: Template | 'auto'
  /** What the upstream asks for. */
  readonly upstreamTemplate: Template
  /** Whether Foldgate is told the window; where it is not, refusals have to teach it. */
  readonly isWindowKnown: boolean
  /** Whether the upstream says how large prompts were. What it says may add a compaction, and no two runs have heard the same. */
  readonly statesUsage: boolean
  /** For `cold`: what was received in the warm run, by sample key. */
  readonly expected: Sample
}

/** The digests of the messages that the upstream received, by sample key. */
export type Sample = Readonly<Record<string, Received>>
export type Received = readonly string[]

/** The messages that the upstream received last, as digests: 48 bits tell those of one conversation apart. */
export function receivedIn({ received }: Exchange<Pick<ReceivedRequest, 'rawMessages'>>): Received {
  return (received.at(-1)?.rawMessages ?? []).map((text) => hash('sha1', text).slice(0, 12))
}

export type Failure = {
  readonly job: string
  readonly file: string
  readonly conversation: string
  readonly variant: string
  readonly mode: string
  /** How many messages the request carried. */
  readonly point: number
  readonly check: string
  readonly detail: string
}

export type JobReport = {
  readonly job: string
  readonly configuration: Job
  readonly kind: JobKind
  /** By file and variant. */
  readonly tallies: Readonly<Record<string, Tally>>
  readonly failures: readonly Failure[]
  /** A line for each request: what it was, and a digest of each body that was sent for it. */
  readonly bodies: readonly string[]
  /** What `cold` compares with. */
  readonly sample: Sample
  /** For the comparing kinds: how many were compared, and how many of them were equal. */
  readonly compared: number
  readonly equal: number
  readonly elapsedMs: number
}

/** Whether differences of this kind are told, and no failures: without records, other numbers derive another past. */
export function isInformative(kind: JobKind): boolean {
  return kind === 'cold-changed'
}

export function nameOf(named: Job): string {
  const usage = named.statesUsage ? ', usage stated' : ''
  const window = named.isWindowKnown ? String(named.windowTokens) : `${named.windowTokens}, to be learnt`
  const template =
    named.profileTemplate === named.upstreamTemplate
      ? named.profileTemplate
      : `${named.profileTemplate} against ${named.upstreamTemplate}`
  const dialect = dialectTitles[named.dialect]
  return `${named.kind === 'replay' ? '' : `${named.kind}: `}${dialect}window ${window}${usage}, template ${template}`
}

/** What the command line leaves of the configurations; null: all of them. */
export type Filter = {
  readonly window: string | null
  readonly template: string | null
  readonly dialect: RunDialect
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
  // Of runs whose numbers are the same from the first request on, so that a cold one can be compared with them.
  const known = replays.filter(
    ({ configuration: { isWindowKnown, statesUsage, profileTemplate, upstreamTemplate } }) =>
      isWindowKnown && !statesUsage && profileTemplate === upstreamTemplate,
  )
  const cold = known.flatMap(({ configuration, sample }) =>
    (['cold', 'cold-changed'] as const).map((kind) => ({ ...configuration, kind, expected: sample })),
  )
  const own = windows.flatMap((windowTokens) =>
    (['changed', 'clock'] as const).map((kind) => job({ kind, windowTokens })),
  )
  return [...cold, ...own.filter((one) => passes(one, filter))]
}

/** What a filter may ask for, in tokens. */
export const windows: readonly number[] = [8000, 16_000, 32_000]
export const templates = ['lenient', 'strict', 'auto'] as const

/** A job that is not said to be otherwise. */
export function job(given: Partial<Job>): Job {
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

// --- internal ---

const dialectTitles = {
  'chat-completions': '',
  responses: 'Responses, ',
  messages: 'Messages, ',
} as const satisfies Record<RunDialect, string>

function chatJobs(): readonly Job[] {
  const all = windows
    .toReversed()
    .flatMap((windowTokens) =>
      (['lenient', 'strict'] as const).map((template) =>
        job({ windowTokens, profileTemplate: template, upstreamTemplate: template }),
      ),
    )
  return [
    ...all,
    job({ windowTokens: 8000, statesUsage: true }),
    job({ windowTokens: 8000, profileTemplate: 'auto', upstreamTemplate: 'strict', statesUsage: true }),
    job({ windowTokens: 16_000, isWindowKnown: false, statesUsage: true }),
  ]
}

/** These APIs have one template, and state usage unasked. */
function livedJobs(dialect: RunDialect): readonly Job[] {
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
