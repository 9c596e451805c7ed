import type { Template } from '../../support/strict-upstream/message-rules.ts'
import type { StandingOptions } from '../fidelity/standing.ts'
import type { Sent } from './bodies.ts'
import type { Stage } from './stage.ts'
import type { Subject } from './subject.ts'
import type { Tally } from './tally.ts'

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

export const replayedDialects = ['chat-completions', 'responses', 'messages'] as const

/** In which wire format recordings are sent. Conversations of other APIs than chat completions are lived, see `lived`. */
export type ReplayedDialect = (typeof replayedDialects)[number]

/** One configuration, replayed in a process of its own. */
export type Job = {
  readonly kind: JobKind
  readonly dialect: ReplayedDialect
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
  readonly expected: Readonly<Record<string, Received>>
}

/** The digests of the messages that the upstream received. */
export type Received = readonly string[]

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

/** What a job works on. */
export type JobContext = {
  readonly job: Job
  readonly subjects: readonly Subject[]
  readonly stageOf: (subject: Subject) => Stage
  /** Keeps the digests of what the upstream received for a request, where they are wanted. */
  readonly keepBodies: (request: string, exchange: Sent) => void
  /** How the upstream counts. */
  readonly sizing: StandingOptions
}

/** How many requests were compared, and which were not alike. */
export type Comparison = {
  readonly differences: { readonly subject: Subject; readonly point: number; readonly detail: string }[]
  compared: number
  equal: number
}

export type JobReport = {
  readonly job: string
  readonly configuration: Job
  readonly kind: JobKind
  /** By file and variant. */
  readonly tallies: Readonly<Record<string, Tally>>
  readonly failures: readonly Failure[]
  /** A line a body that the upstream received: see `bodies.ts`. */
  readonly bodies: readonly string[]
  /** What `cold` compares with. */
  readonly sample: Readonly<Record<string, Received>>
  /** For the comparing kinds: how many were compared, and how many of them were equal. */
  readonly compared: number
  readonly equal: number
  readonly elapsedMs: number
}

/** Whether differences of this kind are told, and no failures: without records, other numbers derive another past. */
export function isInformative(kind: JobKind): boolean {
  return kind === 'cold-changed'
}

export function nameOf(job: Job): string {
  const usage = job.statesUsage ? ', usage stated' : ''
  const window = job.isWindowKnown ? String(job.windowTokens) : `${job.windowTokens}, to be learnt`
  const template =
    job.profileTemplate === job.upstreamTemplate
      ? job.profileTemplate
      : `${job.profileTemplate} against ${job.upstreamTemplate}`
  const dialect = dialectTitles[job.dialect]
  return `${job.kind === 'replay' ? '' : `${job.kind}: `}${dialect}window ${window}${usage}, template ${template}`
}

// --- internal ---

const dialectTitles = {
  'chat-completions': '',
  responses: 'Responses, ',
  messages: 'Messages, ',
} as const satisfies Record<ReplayedDialect, string>
