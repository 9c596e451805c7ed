import { isBeginning } from '../../support/is-beginning.ts'
import { ruleBreaks, type Template } from '../../support/strict-upstream/message-rules.ts'
import { rawMessage, systemCountOf, type RawMessage } from '../harness/recordings.ts'
import type { Exchange, ReceivedRequest } from '../harness/stage.ts'
import { latestUser, newestUserOf, type RequestBody, type Subject } from '../harness/subject.ts'
import { openStandings, type Standing, type StandingOptions } from '../fidelity/standing.ts'
import { hasShare, newestRoundTokens, newestShare, taskShare, waterLevel } from '../fidelity/workable.ts'
import { alignment, type Origin } from './alignment.ts'
import type { Job } from './jobs.ts'

type CheckInput = {
  readonly job: Job
  readonly subject: Subject
  readonly point: number
  readonly body: RequestBody
  readonly exchange: Exchange
  readonly missingPins: ReturnType<typeof openPins>
  readonly previous: SeenChat | null
}

export type SeenChat = Seen & { readonly isAnswered: boolean }

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
  else if (!last.body.equals(bytesAsAsked(input.body, last)))
    add('P1 same bytes', `${exchange.action}, yet the bytes differ`)
  if (job.dialect === 'ollama') problems.push(...askingProblems(job, last, isAsItCame))
  // Where the placement is to be found out, a first try may break rules that the last one has to keep.
  const judged = job.profileTemplate === job.upstreamTemplate ? received : [last]
  for (const request of judged) problems.push(...ruleProblems(input, request))
  const rejected = sequenceProblems(judged, received.length)
  problems.push(...rejected)
  const { rawMessages } = last
  // Until an answer has told, nobody can know how this upstream shows tools to its model.
  const isToolsWayKnown = job.statesUsage && previous?.isAnswered === true
  const doubtLeft = job.dialect === 'ollama' ? TOOLS_DOUBT_LEFT : 0
  const doubtShare = isToolsWayKnown ? doubtLeft : TOOLS_DOUBT_SHARE
  const doubtTokens = Math.ceil(subject.toolsTokens * doubtShare)
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

export type Problem = { readonly check: string; readonly detail: string }

export type Checked<Before = Seen> = {
  readonly problems: readonly Problem[]
  readonly isCompaction: boolean
  readonly isFixedTooLarge: boolean
  /** Whether the upstream refused the sequence, or the thoughts in it. */
  readonly isRejected: boolean
  readonly brokenGroups: number
  readonly seen: Before | null
}

/** A request as the next one is compared with it: its messages or, in other APIs, its entries. */
export type Seen = {
  readonly newest: string
  readonly sent: readonly string[]
  readonly passes: string
  /** All that is not the client's own. */
  readonly made: string
  /** The client's own that were sent with their own bytes. */
  readonly kept: ReadonlySet<number>
}

type AnyOrigin = { readonly kind: string; readonly index?: number }

export const isUntouched = ({ action }: Pick<Exchange, 'action'>): boolean =>
  /^(?:relayed|failed-open|restored;reason=original)/.test(action)

export function answerProblems(exchange: Exchange<unknown>, isFixedTooLarge: boolean): readonly Problem[] {
  const { action, isReply, status, answer } = exchange
  const error = { check: 'an error reached the client', detail: `${status} ${answer.slice(0, 300)}` }
  return [
    ...(action.startsWith('failed-open') ? [{ check: 'P2 failed open', detail: action }] : []),
    ...(isReply || isFixedTooLarge ? [] : [error]),
  ]
}

/** What was refused of these attempts for anything but the window. */
export function sequenceProblems(
  judged: readonly { readonly rejected: { readonly reason: string; readonly message: string } | null }[],
  attempts: number,
): readonly Problem[] {
  const rejected = judged.filter((each) => each.rejected !== null && each.rejected.reason !== 'window')
  const words = rejected[0]?.rejected?.message
  const detail = `${rejected.length} of ${attempts} attempts: ${words}`
  return rejected.length === 0 ? [] : [{ check: 'rejected for its sequence', detail }]
}

/** P1 of a request that was rewritten: what stands around its parts, and between them. */
export function aroundProblems(
  sent: Buffer,
  { before, after }: Pick<RequestBody, 'before' | 'after'>,
  rawParts: readonly string[],
  names: string,
): readonly Problem[] {
  const problems: Problem[] = []
  const add = (detail: string) => problems.push({ check: 'P1 same bytes', detail })
  if (!sent.subarray(0, before.length).equals(before)) add(`what stands before the ${names} differs`)
  if (!sent.subarray(-after.length).equals(after)) add(`what stands after the ${names} differs`)
  const between = sent.subarray(before.length, sent.length - after.length).toString('utf8')
  if (between.replaceAll(/\s*,\s*/g, ',') !== rawParts.join(',').replaceAll(/\s*,\s*/g, ','))
    add(`between the ${names} stands something else`)
  return problems
}

export const seenOf = (
  exchange: Exchange<unknown>,
  newest: string,
  sent: readonly string[],
  origins: readonly AnyOrigin[],
): Seen => ({
  newest,
  sent,
  passes: exchange.passes.join(),
  made: sent.filter((_, place) => origins[place]?.kind !== 'kept').join('\n'),
  kept: new Set(origins.flatMap(({ kind, index }) => (kind === 'kept' ? (index ?? []) : []))),
})

export function isCompaction(previous: Seen | null, now: Seen): boolean {
  return previous !== null && !isBeginning(previous.sent, now.sent)
}

/** P4 and P5, as far as they compare a request with the one before. */
export function changeProblems(
  previous: Seen | null,
  now: Seen,
  { name, names, isFixedTooLarge }: { name: string; names: string; isFixedTooLarge: boolean },
): readonly Problem[] {
  if (previous === null) return []
  if (!isCompaction(previous, now)) {
    const isSame = previous.sent.length === now.sent.length && previous.newest !== now.newest
    const detail = `the same ${names} were sent as for the request before`
    return isSame && !isFixedTooLarge ? [{ check: 'P4 same prompt', detail }] : []
  }
  // A fold that has no room for a recap makes nothing either, but it takes messages away.
  const isFold = [...previous.kept].some((index) => !now.kept.has(index))
  if (isFold || now.passes !== previous.passes || now.made !== previous.made) return []
  const at = previous.sent.findIndex((text, index) => text !== now.sent[index])
  const detail = `nothing was made or folded, yet ${name} ${at} of what was sent before changed`
  return [{ check: 'P5 stable', detail }]
}

export type MissingPin = { readonly what: 'newest' | 'task' | 'pinned'; readonly detail: string }

export type PinsInput = {
  readonly point: number
  readonly rawMessages: readonly string[]
  /** What window, reply, tools and leading system messages leave, by the judge's count; above 0. */
  readonly roomTokens: number
}

/** Holds the shares of promise P4 against what was received for the requests of one conversation. */
export function openPins(
  { messages, systemCount, task }: Pick<Subject, 'messages' | 'systemCount' | 'task'>,
  options: StandingOptions,
): (input: PinsInput) => readonly MissingPin[] {
  const { sizeOf } = options
  const standings = openStandings(options)
  const parsed = new Map<string, RawMessage>()
  const parse = (text: string): RawMessage => {
    const message = parsed.get(text) ?? rawMessage(text)
    parsed.set(text, message)
    return message
  }

  return function missingPins({ point, rawMessages, roomTokens }) {
    const client = messages.slice(0, point)
    const received = rawMessages.map(parse)
    const standingAt = standings.of(client, received)
    const missing: MissingPin[] = []
    const judge = (what: MissingPin['what'], name: string, index: number, shareTokens: number): void => {
      const message = client[index]
      if (message === undefined) return
      // A user's may be joined with others. The newest one is not to be found in an older one that says the same.
      const places = index === point - 1 ? received.slice(-1) : received
      const isUser = message.message['role'] === 'user'
      const standing = standingAt.get(index) ?? (isUser ? standings.most(message, places) : null)
      if (hasShare(standing, shareTokens)) return
      const due = Math.floor(Math.min(shareTokens, sizeOf(message)))
      missing.push({ what, detail: `${name}, message ${index}: ${told(standing)}, ${due} tokens are due` })
    }

    for (let index = 0; index < Math.min(systemCount, point); index += 1) {
      if (rawMessages[index] !== messages[index]?.text)
        missing.push({ what: 'pinned', detail: `system message ${index}` })
    }
    judge('newest', 'the newest', point - 1, newestShare(client, roomTokens, sizeOf))
    const [latest, newestUser] = [latestUser(client), newestUserOf(client)]
    // System messages may follow a newest user message.
    const userTokens =
      newestUser === -1 ? 0 : newestShare(client.slice(0, newestUser + 1), roomTokens, sizeOf)
    const pinned = [
      ['task', 'the task', task],
      ['pinned', 'the latest user message', latest],
    ] as const
    for (const [what, name, index] of pinned) {
      const message = client[index]
      if (message === undefined || index === point - 1 || (what === 'pinned' && index === task)) continue
      const share = index === newestUser ? userTokens : taskShare(message, roomTokens, sizeOf)
      judge(what, name, index, share)
    }

    const others = newestRoundOf(client).filter((index) => index !== task && index !== latest)
    const sizes = others.map((index) => sizeOf(client[index] ?? NOTHING))
    const level = waterLevel(sizes, Math.max(0, newestRoundTokens(roomTokens) - userTokens))
    for (const [at, index] of others.entries()) {
      const share = Math.min(sizes[at] ?? 0, level)
      if (index !== point - 1 && share >= 1) judge('pinned', 'of the newest round', index, share)
    }
    return missing
  }
}

/** By how much the ways differ in which tools are shown: the dearest known takes about a quarter more than the judge's. */
const TOOLS_DOUBT_SHARE = 0.3
/** What is left of that after answers. In the smallest windows tools and system texts leave so little that a tenth of it shows. */
const TOOLS_DOUBT_LEFT = 0.1
const pinChecks = { newest: 'P4 newest absent', task: 'P4 task gone', pinned: 'P4 pinned' } as const

function outputTokensOf(received: ReceivedRequest | undefined): number {
  const end = received?.body.toString('latin1').slice(-4096) ?? ''
  return Number(/"(?:max_(?:completion_)?tokens|num_predict)":(\d+)/.exec(end)?.[1] ?? 0)
}

/** Where the window has to be learnt, only what was sent last has to fit. */
function overWindow(job: Job, received: readonly ReceivedRequest[]): readonly Problem[] {
  const judged = job.isWindowKnown ? received : received.slice(-1)
  return judged.flatMap((request, attempt) => {
    // An Ollama takes what leaves less than that, and a silent one has nobody know how it shows tools.
    const isLoose = job.dialect === 'ollama' && !job.statesUsage
    const tokens = request.promptTokens + (isLoose ? 0 : outputTokensOf(request))
    const detail = `attempt ${attempt + 1} of ${received.length} took ${tokens} tokens`
    return tokens <= job.windowTokens ? [] : [{ check: 'P7 fits', detail }]
  })
}

function byteProblems(
  { subject, body }: CheckInput,
  { body: bytes, rawMessages, messages }: ReceivedRequest,
  origins: readonly Origin[],
): readonly Problem[] {
  const asked = bytes.includes(usageAsked) ? usageAskedIn(body.before) : body.before
  const before = bytes.includes(ERRORS_ASKED) ? errorsAskedIn(asked) : asked
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

const usageAskedIn = (before: Buffer): Buffer =>
  Buffer.from(before.toString('utf8').replace('"stream":true', usageAsked))

/** And of a body for Ollama, whatever has become of its messages (`ollama.ask_for_errors`). */
const ERRORS_ASKED = ',"truncate":false,"shift":false'

const errorsAskedIn = (before: Buffer): Buffer =>
  Buffer.from(before.toString('utf8').replace(',"stream":', `${ERRORS_ASKED},"stream":`))

/** The client's bytes, as they may be sent. */
function bytesAsAsked({ bytes, before }: RequestBody, { body: sent }: ReceivedRequest): Buffer {
  if (!sent.includes(ERRORS_ASKED)) return bytes
  return Buffer.concat([errorsAskedIn(before), bytes.subarray(before.length)])
}

/** Errors are asked for where something was rewritten or may not fit, and nowhere else. */
function askingProblems(
  { windowTokens }: Job,
  { body, promptTokens }: ReceivedRequest,
  isAsItCame: boolean,
): readonly Problem[] {
  const isAsked = body.includes(ERRORS_ASKED)
  const isNeeded = !isAsItCame || promptTokens > windowTokens
  // A token has one byte at least: what is that short is not counted.
  const isNeedless = isAsItCame && body.length < windowTokens * SURELY_FITTING_SHARE
  if (isAsked ? !isNeedless : !isNeeded) return []
  const detail = `${isAsked ? 'asked' : 'not asked'} for errors, with ${promptTokens} tokens`
  return [{ check: 'P1 same bytes', detail }]
}

const SURELY_FITTING_SHARE = 0.5

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

const NOTHING: RawMessage = { text: '{}', message: {} }

/** More messages than this behind one without calls are no round that has to be seen as one. */
const LOOSE_ROUND_MAX = 8

function newestRoundOf(client: readonly RawMessage[]): readonly number[] {
  const assistant = client.findLastIndex(({ message }) => message['role'] === 'assistant')
  const start = Math.max(assistant, systemCountOf(client))
  const isLoose = client[assistant]?.message['tool_calls'] === undefined
  if (isLoose && client.length - start > LOOSE_ROUND_MAX) return []
  return client.map((_, index) => index).slice(start)
}

function told(standing: Standing | null): string {
  if (standing === null) return 'is not there'
  const { tokensHeld, textTokensHeld, sizeTokens } = standing
  return `has ${tokensHeld} of ${sizeTokens} tokens (${textTokensHeld} of its text)`
}
