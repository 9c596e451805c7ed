import { ruleBreaks, type Template } from '../../support/strict-upstream/message-rules.ts'
import type { Exchange, ReceivedRequest } from '../harness/stage.ts'
import type { RequestBody, Subject } from '../harness/subject.ts'
import { alignment, type Origin } from './alignment.ts'
import type { Job } from './jobs.ts'
import type { MissingPin, openPins } from './pins.ts'
import {
  answerProblems,
  aroundProblems,
  changeProblems,
  isCompaction,
  isUntouched,
  seenOf,
  sequenceProblems,
  type Checked,
  type Problem,
  type Seen,
} from './promises.ts'

type CheckInput = {
  readonly job: Job
  readonly subject: Subject
  readonly point: number
  readonly body: RequestBody
  readonly exchange: Exchange
  /** Judges the requests of this conversation. */
  readonly missingPins: ReturnType<typeof openPins>
  /** What was received for the request before; null at a conversation's first. */
  readonly previous: SeenChat | null
}

/** Of the requests of a chat also whether it or one before it was answered, not refused. */
export type SeenChat = Seen & { readonly isAnswered: boolean }

/** Holds the promises against the bytes that the upstream received. */
export function checkExchange(input: CheckInput): Checked<SeenChat> {
  const { job, subject, point, exchange, previous } = input
  const { received } = exchange
  const last = received.at(-1)
  const roomTokens = job.windowTokens - outputTokensOf(last) - subject.aroundTokens(point)
  const isFixedTooLarge = roomTokens <= 0 || subject.newestUserTokens(point) > roomTokens
  const problems = [...answerProblems(exchange, isFixedTooLarge)]
  const add = (check: string, detail: string) => problems.push({ check, detail })
  const nothing = { isCompaction: false, isFixedTooLarge, isRejected: false, brokenGroups: 0 }
  if (last === undefined) return { problems, ...nothing, seen: previous }
  if (!isFixedTooLarge) problems.push(...overWindow(job, received))

  const isAsItCame = isUntouched(exchange)
  const origins = alignment(subject, point, last)
  if (!isAsItCame) problems.push(...byteProblems(input, last, origins))
  else if (!last.body.equals(input.body.bytes))
    add('P1 same bytes', `${exchange.action}, yet the bytes differ`)
  // Where the placement is to be found out, a first try may break rules that the last one has to keep.
  const judged = job.profileTemplate === job.upstreamTemplate ? received : [last]
  for (const request of judged) problems.push(...ruleProblems(input, request))
  const rejected = sequenceProblems(judged, received.length)
  problems.push(...rejected)
  const { rawMessages } = last
  // Until an answer has told, nobody can know how this upstream shows tools to its model.
  const isToolsWayKnown = job.statesUsage && previous?.isAnswered === true
  const doubtTokens = isToolsWayKnown ? 0 : Math.ceil(subject.toolsTokens * TOOLS_DOUBT_SHARE)
  const sharedTokens = Math.max(1, roomTokens - doubtTokens)
  // Calls that nobody answered, before a user's word, are two turns of the user's to a strict template: they are folded.
  const isRoundFoldable = subject.variant === 'broken' && job.upstreamTemplate === 'strict'
  if (!isAsItCame && !isFixedTooLarge)
    for (const { what, detail } of input.missingPins({ point, rawMessages, roomTokens: sharedTokens }))
      if (!(isRoundFoldable && what === 'pinned')) add(pinChecks[what], detail)

  const seen = {
    ...seenOf(exchange, subject.messages[point - 1]?.text ?? '', rawMessages, origins),
    isAnswered: exchange.isReply || previous?.isAnswered === true,
  }
  problems.push(...changeProblems(previous, seen, { name: 'message', names: 'messages', isFixedTooLarge }))
  const isRejected = rejected.length > 0
  return { ...nothing, problems, isCompaction: isCompaction(previous, seen), isRejected, seen }
}

// --- internal ---

/** By how much the ways differ in which tools are shown: the dearest known takes about a quarter more than the judge's. */
const TOOLS_DOUBT_SHARE = 0.3

const pinChecks = {
  newest: 'P4 newest absent',
  task: 'P4 task gone',
  pinned: 'P4 pinned',
} as const satisfies Record<MissingPin['what'], string>

function outputTokensOf(received: ReceivedRequest | undefined): number {
  const end = received?.body.toString('latin1').slice(-4096) ?? ''
  return Number(/"max_(?:completion_)?tokens":(\d+)/.exec(end)?.[1] ?? 0)
}

/** Where the window has to be learnt, only what was sent last has to fit. */
function overWindow(job: Job, received: readonly ReceivedRequest[]): readonly Problem[] {
  const judged = job.isWindowKnown ? received : received.slice(-1)
  return judged.flatMap((request, attempt) => {
    const tokens = request.promptTokens + outputTokensOf(request)
    const detail = `attempt ${attempt + 1} of ${received.length} took ${tokens} tokens`
    return tokens <= job.windowTokens ? [] : [{ check: 'P7 fits', detail }]
  })
}

function byteProblems(
  { subject, body }: CheckInput,
  { body: bytes, rawMessages, messages }: ReceivedRequest,
  origins: readonly Origin[],
): readonly Problem[] {
  const before = bytes.includes(usageAsked) ? usageAskedIn(body.before) : body.before
  const problems = [...aroundProblems(bytes, { before, after: body.after }, rawMessages, 'messages')]
  const add = (detail: string) => problems.push({ check: 'P1 same bytes', detail })
  origins.forEach((origin, position) => {
    const text = rawMessages[position] ?? ''
    if (origin.kind === 'stray') add(`received message ${position} is nobody's: ${text.slice(0, 200)}`)
    if (origin.kind !== 'derived') return
    const original = subject.messages[origin.index]
    if (JSON.stringify(messages[position]) === JSON.stringify(original?.message))
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
  const strict: readonly Template[] = job.upstreamTemplate === 'strict' ? ['strict'] : []
  return (['lenient', ...strict] as const).flatMap((template) => {
    const sent = ruleBreaks(received.messages, template)
    const came = subject.breaks(point, template)
    const words = sent.map(({ rule, index }) => `${rule} at ${index}`).join(', ')
    const detail = `${sent.length} broken rules (${template}) instead of ${came.length}: ${words}`
    return sent.length <= came.length ? [] : [{ check: 'P3 valid', detail }]
  })
}
