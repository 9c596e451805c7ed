import { hash } from 'node:crypto'
import { openPromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { bodyLine } from './bodies.ts'
import { compareChanged } from './compare-changed.ts'
import { compareClock } from './compare-clock.ts'
import { compareCold } from './compare-cold.ts'
import {
  nameOf,
  type Comparison,
  type Failure,
  type Job,
  type JobContext,
  type JobReport,
  type ReplayedDialect,
} from './job.ts'
import { readRecordings } from './recordings.ts'
import { replayAll } from './replay-job.ts'
import { sampled } from './sample.ts'
import { openStage } from './stage.ts'
import { openSubjects } from './subjects.ts'
import { openLivedStage } from './responses/lived-stage.ts'
import { livedSubjects } from './responses/lived-subject.ts'
import { replayLived } from './lived/replay-lived.ts'
import type { LivedStage, LivedSubject } from './lived/lived-subject.ts'
import { openMessagesStage } from './messages/messages-stage.ts'
import { messagesSubjects } from './messages/messages-subject.ts'

export type RunOptions = {
  readonly folder: string
  readonly file: string | null
  /** The most request points of a conversation; the others are left out evenly. */
  readonly pointsMax: number | null
  /** Whether the digests of what the upstream received are told. */
  readonly keepsBodies: boolean
}

/** Runs one job from the reading of the folder to its report. */
export async function runJob(job: Job, options: RunOptions): Promise<JobReport> {
  const { dialect } = job
  if (dialect !== 'chat-completions') return runLivedJob({ ...job, dialect }, options)
  const startedMs = performance.now()
  const { count } = await loadCounter('o200k_base')
  const counter = openPromptCounter(count)
  const recordings = readRecordings(options.folder, options.file)
  const all = openSubjects(recordings, { job, counter, pointsMax: options.pointsMax })
  const sample = sampled(all)
  const stage = { ...stageOf(job), count }
  const enforcing = await openStage({ ...stage, rules: 'enforced' })
  const unchecked = await openStage({ ...stage, rules: 'unchecked' })
  const bodies: string[] = []
  const context: JobContext = {
    job,
    keepBodies: (request, exchange) => {
      if (options.keepsBodies) bodies.push(bodyLine(`${nameOf(job)} ${request}`, exchange))
    },
    subjects: job.kind === 'replay' ? all : sample,
    stageOf: (subject) => (subject.variant === 'broken' ? unchecked : enforcing),
    sizing: { count, sizeOf: ({ text, message }) => counter.message(hash('sha1', text), message) },
  }
  const report = { ...emptyReport(job), bodies }
  const done =
    job.kind === 'replay'
      ? await replayAll({ ...context, isSampled: (subject) => sample.includes(subject) })
      : compared(job, await comparisons[job.kind](context))
  const failures = [
    ...done.failures,
    ...[...enforcing.failures(), ...unchecked.failures()].map((line) => logged(job, line)),
  ]
  await enforcing.close()
  await unchecked.close()
  return { ...report, ...done, failures, elapsedMs: Math.round(performance.now() - startedMs) }
}

// --- internal ---

type LivedDialect = Exclude<ReplayedDialect, 'chat-completions'>

async function runLivedJob(
  job: Job & { readonly dialect: LivedDialect },
  options: RunOptions,
): Promise<JobReport> {
  const startedMs = performance.now()
  const { count } = await loadCounter('o200k_base')
  const { windowTokens, isWindowKnown, statesUsage } = job
  const profile = isWindowKnown ? { window: { tokens: windowTokens } } : {}
  const stage = { profile, windowTokens, statesUsage, count }
  const recordings = readRecordings(options.folder, options.file)
  const sizing = { count, pointsMax: options.pointsMax }
  const bodies: string[] = []
  const keepBodies: JobContext['keepBodies'] = (request, exchange) => {
    if (options.keepsBodies) bodies.push(bodyLine(`${nameOf(job)} ${request}`, exchange))
  }
  async function lived<Script>(opened: LivedStage<Script>, subjects: readonly LivedSubject<Script>[]) {
    const { tallies, failures } = await replayLived({ job, subjects, stage: opened, keepBodies })
    failures.push(...opened.failures().map((line) => logged(job, line)))
    await opened.close()
    return { tallies, failures }
  }
  const done =
    job.dialect === 'messages'
      ? await lived(await openMessagesStage(stage), messagesSubjects(recordings, sizing))
      : await lived(
          // A window that is to be learnt is told in the shape that is hardest to recognise.
          await openLivedStage({
            ...stage,
            overflow: isWindowKnown ? { shape: 'status' } : { shape: 'stream', errorEvent: 'nested' },
          }),
          livedSubjects(recordings, sizing),
        )
  const elapsedMs = Math.round(performance.now() - startedMs)
  return { ...emptyReport(job), ...done, bodies, elapsedMs }
}

function emptyReport(job: Job) {
  return {
    job: nameOf(job),
    configuration: { ...job, expected: {} },
    kind: job.kind,
    tallies: {},
    bodies: [],
    sample: {},
    compared: 0,
    equal: 0,
  }
}

function stageOf({ windowTokens, profileTemplate, upstreamTemplate, isWindowKnown, statesUsage }: Job) {
  const profile = { template: profileTemplate, ...(isWindowKnown && { window: { tokens: windowTokens } }) }
  return { profile, windowTokens, template: upstreamTemplate, statesUsage }
}

const comparisons = {
  cold: (context) => compareCold(context, false),
  'cold-changed': (context) => compareCold(context, true),
  changed: compareChanged,
  clock: compareClock,
} as const satisfies Record<Exclude<Job['kind'], 'replay'>, (context: JobContext) => Promise<Comparison>>

const checkOf = {
  cold: 'P6 repeatable: without records, other messages were sent',
  'cold-changed': 'without records and with other tools and limits, other messages were sent',
  changed: 'P6 repeatable: other tools and limits moved a frontier',
  clock: 'P6 repeatable: a clock in the system prompt changed what was sent',
} as const satisfies Record<Exclude<Job['kind'], 'replay'>, string>

function compared(job: Job, { differences, ...counts }: Comparison) {
  const failures = differences.map(({ subject, point, detail }): Failure => {
    const check = job.kind === 'replay' ? '' : checkOf[job.kind]
    const { file, id } = subject.recording
    return {
      job: nameOf(job),
      file,
      conversation: id,
      variant: subject.variant,
      mode: 'plain',
      point,
      check,
      detail,
    }
  })
  return { ...counts, failures }
}

/** A failure that Foldgate logged itself. */
function logged(job: Job, line: string): Failure {
  const nobody = { file: '', conversation: '', variant: '', mode: '', point: 0 }
  return { job: nameOf(job), ...nobody, check: 'Foldgate logged an error', detail: line }
}
