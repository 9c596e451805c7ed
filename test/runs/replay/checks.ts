import { isBeginning } from '../../support/is-beginning.ts'
import { ruleBreaks, type Template } from '../../support/strict-upstream/message-rules.ts'
import { alignment, madeTexts, type Origin } from './alignment.ts'
import type { Job } from './job.ts'
import type { MissingPin, openPins } from './pins.ts'
import type { Exchange, ReceivedRequest } from './stage.ts'
import type { RequestBody, Subject } from './subject.ts'

/** A promise that was not kept. */
export type Problem = { readonly check: string; readonly detail: string }

type CheckInput = {
  readonly job: Job
  readonly subject: Subject
  readonly point: number
  readonly body: RequestBody
  readonly exchange: Exchange
  /** Judges the requests of this conversation. */
  readonly missingPins: ReturnType<typeof openPins>
  /** What was received for the request before; null at a conversation's first. */
  readonly previous: Seen | null
}

/** A request as the next one is compared with it. */
export type Seen = {
  /** The client's newest message. */
  readonly newest: string
  readonly rawMessages: readonly string[]
  readonly passes: string
  readonly made: string
  /** The client's messages that were sent with their own bytes. */
  readonly kept: ReadonlySet<number>
  /** Whether it or one before it was answered, not refused. */
  readonly isAnswered: boolean
}

type Checked = {
  readonly problems: readonly Problem[]
  /** Whether what was sent before is no beginning of what was sent now. */
  readonly isCompaction: boolean
  readonly isFixedTooLarge: boolean
  /** Whether the upstream refused the sequence. */
  readonly isRejected: boolean
  readonly seen: Seen | null
}

/** Holds the promises against the bytes that the upstream received. */
export function checkExchange(input: CheckInput): Checked {
  const { job, subject, point, exchange, previous } = input
  const { received } = exchange
  const last = received.at(-1)
  const problems: Problem[] = []
  const add = (check: string, detail: string) => problems.push({ check, detail })

  const roomTokens = job.windowTokens - outputTokensOf(last) - subject.aroundTokens(point)
  const isFixedTooLarge = roomTokens <= 0 || subject.newestUserTokens(point) > roomTokens
  if (exchange.action.startsWith('failed-open')) add('P2 failed open', exchange.action)
  if (!exchange.isReply && !isFixedTooLarge)
    add('an error reached the client', `${exchange.status} ${exchange.answer.slice(0, 300)}`)
  if (last === undefined)
    return { problems, isCompaction: false, isFixedTooLarge, isRejected: false, seen: previous }
  if (!isFixedTooLarge) problems.push(...overWindow(job, received))

  const isUntouched = /^(?:relayed|failed-open|restored;reason=original)/.test(exchange.action)
  if (isUntouched) {
    if (!last.body.equals(input.body.bytes)) add('P1 same bytes', `${exchange.action}, yet the bytes differ`)
  }
  const origins = alignment(subject, point, last)
  if (!isUntouched) problems.push(...byteProblems(input, last, origins))
  // Where the placement is to be found out, a first try may break rules that the last one has to keep.
  const judged = job.profileTemplate === job.upstreamTemplate ? received : [last]
  for (const request of judged) problems.push(...ruleProblems(input, request))
  const rejected = judged.filter(
    (request) => request.rejected !== null && request.rejected.reason !== 'window',
  )
  if (rejected.length > 0)
    add(
      'rejected for its sequence',
      `${rejected.length} of ${received.length} attempts: ${rejected[0]?.rejected?.message}`,
    )
  const { rawMessages } = last
  // Until an answer has told, nobody can know how this upstream shows tools to its model.
  const isToolsWayKnown = job.statesUsage && previous?.isAnswered === true
  const doubtTokens = isToolsWayKnown ? 0 : Math.ceil(subject.toolsTokens * TOOLS_DOUBT_SHARE)
  const sharedTokens = Math.max(1, roomTokens - doubtTokens)
  // Calls that nobody answered, before a user's word, are two turns of the user's to a strict template: they are folded.
  const isRoundFoldable = subject.variant === 'broken' && job.upstreamTemplate === 'strict'
  if (!isUntouched && !isFixedTooLarge)
    for (const { what, detail } of input.missingPins({ point, rawMessages, roomTokens: sharedTokens }))
      if (!(isRoundFoldable && what === 'pinned')) add(pinChecks[what], detail)
  const newest = subject.messages[point - 1]?.text ?? ''
  if (!isFixedTooLarge && previous !== null && previous.newest !== newest && isSame(previous, last))
    add('P4 same prompt', 'the same messages were sent as for the request before')

  const seen = {
    newest,
    rawMessages,
    passes: exchange.passes.join(),
    made: madeTexts(last, origins),
    kept: new Set(origins.flatMap((origin) => (origin.kind === 'kept' ? [origin.index] : []))),
    isAnswered: exchange.isReply || previous?.isAnswered === true,
  }
  const isCompaction = previous !== null && !isBeginning(previous.rawMessages, seen.rawMessages)
  if (isCompaction && seen.passes === previous.passes && seen.made === previous.made) {
    // A fold that has no room for a recap makes nothing either, but it takes messages away.
    const isFold = [...previous.kept].some((index) => !seen.kept.has(index))
    const at = previous.rawMessages.findIndex((text, index) => text !== seen.rawMessages[index])
    if (!isFold)
      add('P5 stable', `nothing was made or folded, yet message ${at} of what was sent before changed`)
  }
  return { problems, isCompaction, isFixedTooLarge, isRejected: rejected.length > 0, seen }
}

// --- internal ---

/** By how much the ways differ in which tools are shown: the dearest known takes about a quarter more than the judge's. */
const TOOLS_DOUBT_SHARE = 0.3

const pinChecks = {
  newest: 'P4 newest absent',
  task: 'P4 task gone',
  pinned: 'P4 pinned',
} as const satisfies Record<MissingPin['what'], string>

function isSame(one: Pick<Seen, 'rawMessages'>, other: Pick<Seen, 'rawMessages'>): boolean {
  return (
    one.rawMessages.length === other.rawMessages.length && isBeginning(one.rawMessages, other.rawMessages)
  )
}

function outputTokensOf(received: ReceivedRequest | undefined): number {
  const limit = /"max_(?:completion_)?tokens":(\d+)/.exec(
    received?.body.toString('latin1').slice(-4096) ?? '',
  )
  return Number(limit?.[1] ?? 0)
}

/** Where the window has to be learnt, only what was sent last has to fit. */
function overWindow(job: Job, received: readonly ReceivedRequest[]): readonly Problem[] {
  const judged = job.isWindowKnown ? received : received.slice(-1)
  return judged.flatMap((request, attempt) => {
    const tokens = request.promptTokens + outputTokensOf(request)
    if (tokens <= job.windowTokens) return []
    return [
      { check: 'P7 fits', detail: `attempt ${attempt + 1} of ${received.length} took ${tokens} tokens` },
    ]
  })
}

function byteProblems(
  { subject, body }: CheckInput,
  received: ReceivedRequest,
  origins: readonly Origin[],
): readonly Problem[] {
  const problems: Problem[] = []
  const add = (detail: string) => problems.push({ check: 'P1 same bytes', detail })
  const bytes = received.body
  const before = bytes.includes(usageAsked) ? usageAskedIn(body.before) : body.before
  if (!bytes.subarray(0, before.length).equals(before)) add('what stands before the messages differs')
  if (!bytes.subarray(-body.after.length).equals(body.after)) add('what stands after the messages differs')
  const between = bytes.subarray(before.length, bytes.length - body.after.length).toString('utf8')
  if (between.replaceAll(/\s*,\s*/g, ',') !== received.rawMessages.join(',').replaceAll(/\s*,\s*/g, ','))
    add('between the messages stands something else')
  origins.forEach((origin, position) => {
    const text = received.rawMessages[position] ?? ''
    if (origin.kind === 'stray') add(`received message ${position} is nobody's: ${text.slice(0, 200)}`)
    if (origin.kind !== 'derived') return
    const original = subject.messages[origin.index]
    if (JSON.stringify(received.messages[position]) === JSON.stringify(original?.message))
      add(`message ${origin.index} was kept, but not its bytes`)
  })
  return problems
}

/** The one addition that a rewritten stream carries unless the operator forbids it (`usage.in_streams`). */
const usageAsked = '"stream":true,"stream_options":{"include_usage":true}'

function usageAskedIn(before: Buffer): Buffer {
  return Buffer.from(before.toString('utf8').replace('"stream":true', usageAsked))
}

/** What is sent never breaks a rule more often than what came in. */
function ruleProblems({ job, subject, point }: CheckInput, received: ReceivedRequest): readonly Problem[] {
  const templates: readonly Template[] =
    job.upstreamTemplate === 'strict' ? ['lenient', 'strict'] : ['lenient']
  return templates.flatMap((template) => {
    const sent = ruleBreaks(received.messages, template)
    const came = subject.breaks(point, template)
    if (sent.length <= came.length) return []
    const words = sent.map(({ rule, index }) => `${rule} at ${index}`).join(', ')
    return [
      {
        check: 'P3 valid',
        detail: `${sent.length} broken rules (${template}) instead of ${came.length}: ${words}`,
      },
    ]
  })
}
