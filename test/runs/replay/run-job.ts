import { hash } from 'node:crypto'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { openPromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import { openMessagesStage } from '../harness/messages.ts'
import { readRecordings } from '../harness/recordings.ts'
import { openResponsesStage } from '../harness/responses.ts'
import { openStage } from '../harness/stage.ts'
import { checkOf, comparisons, sampled, type Comparison } from './compare.ts'
import { nameOf, type Failure, type Job, type JobReport } from './jobs.ts'
import { replayAll, replayLived, type JobContext } from './replay-all.ts'
import { openSubjects } from './subjects.ts'

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
  const startedMs = performance.now()
  const bodies: string[] = []
  const keepBodies: JobContext['keepBodies'] = (request, { received }) => {
    const digests = received.map(({ body }) => hash('sha256', body).slice(0, DIGEST_CHARS))
    if (options.keepsBodies) bodies.push([`${nameOf(job)} ${request}`, ...digests].join(' '))
  }
  const run = job.dialect === 'chat-completions' ? runChats : runLived
  const done = await run(job, options, keepBodies)
  const logged = done.logged.map((detail): Failure => {
    const nobody = { file: '', conversation: '', variant: '', mode: '', point: 0 }
    return { job: nameOf(job), ...nobody, check: 'Foldgate logged an error', detail }
  })
  return {
    job: nameOf(job),
    configuration: { ...job, expected: {} },
    kind: job.kind,
    tallies: {},
    sample: {},
    compared: 0,
    equal: 0,
    ...done.report,
    bodies,
    failures: [...done.report.failures, ...logged],
    elapsedMs: Math.round(performance.now() - startedMs),
  }
}

// --- internal ---

/** 80 bits: two bodies that differ never have the same by chance. */
const DIGEST_CHARS = 20

type Done = {
  readonly report: Partial<JobReport> & Pick<JobReport, 'failures'>
  /** The lines by which Foldgate said that a part of it failed. */
  readonly logged: readonly string[]
}

async function runChats(
  job: Job,
  { folder, file, pointsMax }: RunOptions,
  keepBodies: JobContext['keepBodies'],
): Promise<Done> {
  const { windowTokens, profileTemplate, upstreamTemplate, isWindowKnown, statesUsage } = job
  const { count } = await loadCounter('o200k_base')
  const counter = openPromptCounter(count)
  const all = openSubjects(readRecordings(folder, file), { job, counter, pointsMax })
  const sample = sampled(all)
  const profile = { template: profileTemplate, ...(isWindowKnown && { window: { tokens: windowTokens } }) }
  const stage = { profile, windowTokens, template: upstreamTemplate, statesUsage, count }
  const enforcing = await openStage({ ...stage, rules: 'enforced' })
  const unchecked = await openStage({ ...stage, rules: 'unchecked' })
  const context: JobContext = {
    job,
    keepBodies,
    subjects: job.kind === 'replay' ? all : sample,
    stageOf: (subject) => (subject.variant === 'broken' ? unchecked : enforcing),
    sizing: { count, sizeOf: ({ text, message }) => counter.message(hash('sha1', text), message) },
  }
  const report =
    job.kind === 'replay'
      ? await replayAll({ ...context, isSampled: (subject) => sample.includes(subject) })
      : compared(job, checkOf[job.kind], await comparisons[job.kind](context))
  const logged = [...enforcing.failures(), ...unchecked.failures()]
  await enforcing.close()
  await unchecked.close()
  return { report, logged }
}

async function runLived(
  job: Job,
  { folder, file, pointsMax }: RunOptions,
  keepBodies: JobContext['keepBodies'],
): Promise<Done> {
  const { windowTokens, isWindowKnown, statesUsage } = job
  const { count } = await loadCounter('o200k_base')
  const openStageOf = job.dialect === 'messages' ? openMessagesStage : openResponsesStage
  const stage = await openStageOf({
    profile: isWindowKnown ? { window: { tokens: windowTokens } } : {},
    windowTokens,
    statesUsage,
    // A window that is to be learnt is told in the shape that is hardest to recognise.
    refusesOddly: !isWindowKnown,
    rules: 'enforced',
    count,
  })
  const report = await replayLived(readRecordings(folder, file), stage, { job, keepBodies, pointsMax })
  const logged = stage.failures()
  await stage.close()
  return { report, logged }
}

function compared(job: Job, check: string, { differences, ...counts }: Comparison) {
  const failures = differences.map(({ subject, point, detail }): Failure => {
    const { file, id } = subject.recording
    const { variant } = subject
    return { job: nameOf(job), file, conversation: id, variant, mode: 'plain', point, check, detail }
  })
  return { ...counts, failures }
}
