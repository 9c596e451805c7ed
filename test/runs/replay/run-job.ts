import { hash } from 'node:crypto'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { ruleBreaks } from '../../support/strict-upstream/message-rules.ts'
import { openPromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import type { EntryReader, LivedReceived, LivedStage } from '../harness/lived.ts'
import { isAskable, openMessagesStage } from '../harness/messages.ts'
import { ollamaRecording, openOllamaStage } from '../harness/ollama.ts'
import {
  OUTPUT_TOKENS,
  messagesOf,
  readRecordings,
  requestPoints,
  type Recording,
} from '../harness/recordings.ts'
import { openResponsesStage } from '../harness/responses.ts'
import { openStage, type Exchange, type Stage } from '../harness/stage.ts'
import type { Subject } from '../harness/subject.ts'
import type { StandingOptions } from '../fidelity/standing.ts'
import { checkExchange, openPins, type Checked, type Problem, type Seen, type SeenChat } from './checks.ts'
import { checkOf, comparisons, sampleKey, sampled, sampledPoints, type Comparison } from './compare.ts'
import { nameOf, receivedIn, type Failure, type Job, type JobReport, type Received } from './jobs.ts'
import { checkLived, openHistory, watchThoughts } from './lived-checks.ts'
import { openSubjects, repaired } from './subjects.ts'
import { openTally, type Tally } from './table.ts'

export type RunOptions = {
  readonly folder: string
  readonly file: string | null
  /** The most request points of a conversation; the others are left out evenly. */
  readonly pointsMax: number | null
  readonly keepsBodies: boolean
}

export async function runJob(job: Job, options: RunOptions): Promise<JobReport> {
  const startedMs = performance.now()
  const bodies: string[] = []
  const keepBodies: JobContext['keepBodies'] = (request, { received }) => {
    const digests = received.map(({ body }) => hash('sha256', body).slice(0, DIGEST_CHARS))
    if (options.keepsBodies) bodies.push([`${nameOf(job)} ${request}`, ...digests].join(' '))
  }
  const run = job.dialect === 'chat-completions' || job.dialect === 'ollama' ? runChats : runLived
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

export type JobContext = {
  readonly job: Job
  readonly subjects: readonly Subject[]
  readonly stageOf: (subject: Subject) => Stage
  /** Keeps the digests of what the upstream received for a request, where they are wanted. */
  readonly keepBodies: (request: string, exchange: Pick<Exchange<{ body: Buffer }>, 'received'>) => void
  readonly sizing: StandingOptions
}

type Replayed = { readonly tallies: Record<string, Tally>; readonly failures: Failure[] }

async function replayAll(context: JobContext) {
  const { job, subjects, stageOf, sizing, keepBodies } = context
  // Of these, what was received is kept for the cold run.
  const compared = sampled(subjects)
  const sample: Record<string, Received> = {}
  const replayed: Replayed & { readonly sample: typeof sample } = { tallies: {}, failures: [], sample }
  for (const subject of subjects) {
    const digests = new Map<number, string>()
    for (const mode of modes) {
      const note = noting(replayed, { job, mode, ...subject })
      const points = compared.includes(subject) && mode === 'plain' ? sampledPoints(subject.points) : []
      const missingPins = openPins(subject, sizing)
      let previous: SeenChat | null = null
      let isTaught = false
      for (const point of subject.points) {
        const body = subject.body(point, mode === 'streamed')
        const exchange = await stageOf(subject).ask(body.bytes, `Bearer ${mode}-${subject.owner}`)
        keepBodies(`${note.row} ${subject.recording.id} ${mode} ${point}`, exchange)
        const checked = checkExchange({ job, subject, point, body, exchange, missingPins, previous })
        previous = checked.seen
        const problems: Problem[] = [...checked.problems]
        const digest = receivedIn(exchange).join('')
        if (mode === 'plain') digests.set(point, digest)
        else if (!job.statesUsage && digests.get(point) !== digest)
          problems.push({ check: 'P6 repeatable', detail: 'streamed, other messages were sent than plain' })
        // A refusal teaches numbers, which a cold process does not know.
        isTaught ||= exchange.received.some(({ rejected }) => rejected !== null)
        if (points.includes(point) && !isTaught) sample[sampleKey(subject, point)] = receivedIn(exchange)
        note.request(point, subject.promptTokens(point), exchange, checked, problems)
      }
    }
  }
  return replayed
}

/**
 * Lives every conversation through Foldgate, plain and streamed, each repaired where its calls and results do not pair:
 * these APIs refuse those. `pointsMax`: the most requests of a conversation, the last one among them; null: all.
 */
async function replayLived(
  recordings: readonly Recording[],
  stage: LivedStage,
  { job, keepBodies, pointsMax }: Pick<JobContext, 'job' | 'keepBodies'> & { pointsMax: number | null },
): Promise<Replayed> {
  const replayed: Replayed = { tallies: {}, failures: [] }
  for (const [index, recording] of recordings.entries()) {
    const isSound = ruleBreaks(messagesOf(recording.messages), 'lenient').length === 0
    const messages = isSound ? recording.messages : repaired(recording.messages, 'lenient')
    const variant = isSound ? 'recorded' : 'repaired'
    const isSingle = recording.points[0] === recording.messages.length
    const asked = (isSingle ? [messages.length] : requestPoints(messages)).filter(
      (point) => job.dialect !== 'messages' || isAskable(messages.slice(0, point)),
    )
    const points = [
      ...(pointsMax === null ? asked : asked.slice(-pointsMax)),
      // At the end of each, that the upstream compacts.
      ...(job.dialect === 'responses' ? [messages.length + 1] : []),
    ]
    const owner = encodeURIComponent(`${recording.file}/${recording.id}/${variant}`)
    const digests = new Map<number, string>()
    for (const mode of modes) {
      const chat = stage.openChat(recording, { messages, manner: index, outputTokens: OUTPUT_TOKENS })
      const note = noting(replayed, { job, mode, recording, variant })
      const history = openHistory(chat.readEntry)
      const thoughts = watchThoughts()
      let previous: Seen | null = null
      for (const point of points) {
        history.take(chat.before(point))
        // What is sealed names its owner: of unequal lengths it would take unequal room.
        const authorization = `Bearer ${mode.padEnd(8, '-')}-${owner}`
        const { body, exchange } = await chat.ask(point, mode === 'streamed', authorization)
        keepBodies(`${note.row} ${recording.id} ${mode} ${point}`, exchange)
        const checked = checkLived({ job, chat, history, body, exchange, previous })
        previous = checked.seen
        const last = exchange.received.at(-1)
        const losses = last === undefined ? null : thoughts.asked(last, checked.isCompaction)
        const problems: Problem[] = [...checked.problems]
        const add = (check: string, detail: string) => problems.push({ check, detail })
        if (losses !== null) {
          if (losses.sentDead > 0) add('P5 reasoning', `${losses.sentDead} sent behind a changed prefix`)
          if (losses.lost > 0 && !checked.isCompaction)
            add('P5 reasoning', `${losses.lost} lost without a compaction`)
          note.tally.reasoningLost += losses.lost
          note.tally.reasoningLostAtOnce += losses.lostAtOnce
          note.tally.reasoningLostTwice += losses.lostTwice
        }
        const digest = visibleDigest(last, chat.readEntry)
        if (mode === 'plain') digests.set(point, digest)
        else if (job.isWindowKnown && digests.get(point) !== digest)
          add('P6 repeatable', 'streamed, other entries were sent than plain')
        const tokensIn = history.entries.reduce((sum, { read }) => sum + read.tokens, chat.aroundTokens)
        note.request(point, tokensIn, exchange, checked, problems)
        if (exchange.isReply) thoughts.replied(chat.thoughtsIn(exchange.answer))
      }
    }
  }
  return replayed
}

/** 80 bits: two bodies that differ never have the same by chance. */
const DIGEST_CHARS = 20

async function runChats(
  job: Job,
  { folder, file, pointsMax }: RunOptions,
  keepBodies: JobContext['keepBodies'],
) {
  const { windowTokens, profileTemplate, upstreamTemplate, isWindowKnown, statesUsage, temperament } = job
  const { count } = await loadCounter('o200k_base')
  const counter = openPromptCounter(count)
  const isOllama = job.dialect === 'ollama'
  const recorded = readRecordings(folder, file)
  const recordings = isOllama
    ? recorded.map((each, index) => ollamaRecording(each, { windowTokens, hasIds: index % 2 === 1 }))
    : recorded
  const all = openSubjects(recordings, { job, counter, pointsMax })
  const profile = {
    template: profileTemplate,
    ...(isWindowKnown && !isOllama && { window: { tokens: windowTokens } }),
  }
  const stage = { profile, windowTokens, template: upstreamTemplate, temperament, statesUsage, count }
  const open = isOllama ? openOllamaStage : openStage
  const enforcing = await open({ ...stage, rules: 'enforced' })
  const unchecked = await open({ ...stage, rules: 'unchecked' })
  const context: JobContext = {
    job,
    keepBodies,
    subjects: job.kind === 'replay' ? all : sampled(all),
    stageOf: (subject) => (subject.variant === 'broken' ? unchecked : enforcing),
    sizing: { count, sizeOf: ({ text, message }) => counter.message(hash('sha1', text), message) },
  }
  const report =
    job.kind === 'replay'
      ? await replayAll(context)
      : comparisonOf(job, checkOf[job.kind], await comparisons[job.kind](context))
  const logged = [...enforcing.failures(), ...unchecked.failures()]
  await enforcing.close()
  await unchecked.close()
  return { report, logged }
}

async function runLived(
  job: Job,
  { folder, file, pointsMax }: RunOptions,
  keepBodies: JobContext['keepBodies'],
) {
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

function comparisonOf(job: Job, check: string, { differences, ...counts }: Comparison) {
  const failures = differences.map(({ subject: { recording, variant }, point, detail }): Failure => {
    const { file, id: conversation } = recording
    return { job: nameOf(job), file, conversation, variant, mode: 'plain', point, check, detail }
  })
  return { ...counts, failures }
}

const modes = ['plain', 'streamed'] as const
type Noted = Pick<Subject, 'recording' | 'variant'> & { job: Job; mode: (typeof modes)[number] }

function noting({ tallies, failures }: Replayed, { job, mode, recording, variant }: Noted) {
  const { file, id } = recording
  const row = variant === 'recorded' ? file : `${file} (${variant})`
  const tally = (tallies[row] ??= openTally())
  return {
    row,
    tally,
    request(
      point: number,
      tokensIn: number,
      { action, passes, received, isReply }: Exchange<Pick<LivedReceived, 'promptTokens' | 'cachedTokens'>>,
      checked: Checked<unknown>,
      problems: readonly Problem[],
    ): void {
      const last = received.at(-1)
      tally.requests += 1
      tally.tokensIn += tokensIn
      tally.tokensSent += last?.promptTokens ?? 0
      tally.tokensCached += last?.cachedTokens ?? 0
      if (passes.length > 0) tally.rewritten += 1
      if (action.startsWith('recovered')) tally.recovered += 1
      if (action.startsWith('restored')) tally.restored += 1
      if (action.startsWith('failed-open')) tally.failedOpen += 1
      tally.sentAgain += Math.max(0, received.length - 1)
      if (!isReply) tally.errors += 1
      if (checked.isCompaction) tally.compactions += 1
      if (checked.isRejected) tally.rejected += 1
      if (checked.isFixedTooLarge) tally.fixedTooLarge += 1
      tally.groupsBroken += checked.brokenGroups
      tally.failures += problems.length
      for (const problem of problems)
        failures.push({ job: nameOf(job), file, conversation: id, variant, mode, point, ...problem })
    },
  }
}

/** What the entries say, whatever the upstream has named them; of thoughts only that they are there. */
function visibleDigest(received: LivedReceived | undefined, readEntry: EntryReader): string {
  const shown = (received?.rawEntries ?? []).map((text) => {
    const read = readEntry(text)
    return read.kind === 'thought' ? read.kind : read.unnamed
  })
  return hash('sha1', shown.join('\n'))
}
