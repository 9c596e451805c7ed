import { anyHasBoundThoughts } from '../../compaction/history/history.ts'
import { createFurtherAnswers, type FurtherAnswers, recallAnswer, sendFurther } from './further-answers.ts'
import { type AnswerShape, shapeOf } from '../../upstream/answer-head.ts'
import type { SendingParts } from '../request-parts.ts'
import type {
  AnsweredRequest,
  AnswerObserver,
  JoinedReply,
  Outcome,
  ReadRequest,
  RepliedRequest,
} from '../request.ts'
import { isAnswered } from '../send/outcome.ts'
import { ERROR_BYTES_MAX, observeAnswer } from '../send/judge.ts'
import { fittingForm } from '../send/recover-from-overflow.ts'
import { parsedBody, readWhole, withoutLength } from './whole-answer.ts'
import { isJsonObject, parseJsonText, stringifyJson } from '../../json/json-value.ts'
import { isPauseDue, nextSlice, pauseIfDue, type Eventual } from '../../scheduling/drive.ts'
import { madeBody } from '../../upstream/answer-body.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import type { CallRules, Replies } from '../../formats/answer-contract.ts'
import type { Failures } from '../../telemetry/failures.ts'
import { isTooMuch } from '../../formats/answer-json.ts'
import { createEventCutter } from '../send/event-cutter.ts'

/** The stage that makes one reply of several answers, if the profile allows that: most replies are the answer that came. */
export async function replyTo(request: AnsweredRequest, parts: SendingParts): Promise<RepliedRequest> {
  const { recall, profile, outcome } = request
  // What a larger model answers in another one's place is passed on as it comes.
  const mayGoOn = (recall !== null || profile.continuation.max > 0) && outcome.fallback === undefined
  const joined = mayGoOn ? await joinedReply(request, parts) : null
  return { ...request, outcome: joined?.outcome ?? outcome, joined }
}

/**
 * Streams a reply: the first answer as it comes, and behind it those that go on from it.
 *
 * @internal exported for tests
 */
export function joinStream(
  first: Outcome,
  observer: AnswerObserver,
  { rules, further, failures }: JoinOptions,
): JoinedReply {
  const { replies, answers: read } = first.form.chat.dialect
  const stream = replies.join<RawEvent>(rules)
  let current: Answer = first.answer
  let isBeyondUs = false

  let bytes = 0

  /** What the client gets of an event. Where that cannot be said, from then on the bytes as they come (P2). */
  function take(event: RawEvent): readonly (RawEvent | string)[] {
    if (isBeyondUs) return [event]
    try {
      return stream.take(event)
    } catch (error) {
      isBeyondUs = true
      failures.note('observation', error)
      return [event]
    }
  }

  /** The same of what is not read: what was held goes before it. */
  function takeUnread(cut: Buffer): readonly Buffer[] {
    if (isBeyondUs) return [cut]
    isBeyondUs = true
    const before = bytesOf(stream.finish())
    return before.length === 0 ? [cut] : [before, cut]
  }

  async function* reply(): AsyncGenerator<Buffer, void, void> {
    try {
      yield* answers()
    } finally {
      // An answer that came after the client had left is read by nobody, and would keep its place at the upstream.
      current.body.destroy()
    }
  }

  async function* answers(): AsyncGenerator<Buffer, void, void> {
    let outcome = first
    let standsCut = false
    for (;;) {
      try {
        yield* shownOf(outcome)
      } catch (error) {
        const cut = standsCut ? stream.cut() : null
        if (cut === null) throw error
        if (cut.length > 0) yield bytesOf(cut)
        return
      }
      if (isBeyondUs) return
      const { reply: said, shown } = stream.ended()
      if (shown.length > 0) yield bytesOf(shown)
      const next = said === null ? { kind: 'end' as const } : await further.after(said)
      if (next.kind === 'refused') {
        // What has been shown cannot be taken back: the upstream's error follows it, and an end in the middle.
        yield* errorEvent(next.outcome, replies)
        throw new Error(`the upstream refused to go on with status ${next.outcome.answer.status}`)
      }
      if (next.kind === 'end') {
        const out = bytesOf(stream.finish())
        if (out.length > 0) yield out
        return
      }
      outcome = next.outcome
      standsCut = next.standsCut
      current = outcome.answer
      const late = stream.goOn(next.seam)
      if (late.length > 0) yield bytesOf(late)
    }
  }

  /** What the client gets of one answer as it flows. */
  async function* shownOf(outcome: Outcome): AsyncGenerator<Buffer, void, void> {
    const { body: flowing } = outcome.answer
    const cutter = createEventCutter({ eventBytesMax: EVENT_BYTES_MAX, streamType: read.streamType })
    let timer: NodeJS.Timeout | null = null

    function* shown(cut: Buffer, isWhole: boolean): Generator<Buffer, void, void> {
      bytes += cut.length
      // A line end too many says nothing, and a stream may be full of them.
      if (cut.length <= LINE_END_BYTES_MAX && isWhole) {
        yield cut
        return
      }
      const event = { text: cut.toString('utf8'), bytes: cut }
      if (!isWhole || bytes > REPLY_BYTES_MAX || isTooMuch(event.text)) {
        yield* takeUnread(cut)
        return
      }
      const out = take(event)
      if (out.length > 0) yield bytesOf(out)
      // The reply waits for the end of this answer; some servers leave the connection open behind their last word.
      else if (replies.isDone(event.text)) timer ??= setTimeout(() => flowing.destroy(), DRAIN_MS)
    }
    try {
      for await (const piece of pieces(outcome, () => timer !== null)) {
        if (outcome === first) observer.tap(piece)
        if (isBeyondUs) {
          yield piece
          continue
        }
        const out: Buffer[] = []
        for (const [count, { kind, bytes: cut }] of cutter.feed(piece).entries()) {
          // What one event costs grows with the parts before it. The first one of a piece waits for nobody.
          if (count > 0 && isPauseDue()) {
            if (out.length > 0) yield Buffer.concat(out.splice(0))
            await nextSlice()
          }
          out.push(...shown(cut, kind !== 'part'))
        }
        if (out.length > 0) yield Buffer.concat(out)
        const rest = isBeyondUs ? cutter.end() : nothing
        if (rest.length > 0) yield rest
      }
      const rest = cutter.end()
      if (rest.length > 0) yield* shown(rest, true)
    } finally {
      if (timer !== null) clearTimeout(timer)
    }
  }

  // A generator that waits for its upstream does not hear that nobody reads it any more.
  const body = madeBody(reply(), () => current.body.destroy())
  const answer: Answer = {
    ...first.answer,
    rawHeaders: withoutLength(first.answer.rawHeaders),
    body,
    failure: (error) => current.failure(error),
  }
  return {
    outcome: { ...first, answer, held: [] },
    isOpen: true,
    observer: { tap: () => {}, end: observer.end },
    total: () => ({ ...further.counts(), usage: stream.usage() }),
  }
}

// --- internal ---

/** What joins the answers of a reply. */
type JoinOptions = {
  readonly rules: CallRules
  readonly further: FurtherAnswers
  readonly failures: Pick<Failures, 'note'>
}

/** Null if the reply can be nothing but the answer that came. */
function joinedReply(request: AnsweredRequest, parts: SendingParts): Eventual<JoinedReply | null> {
  const { profile, chat, recall, outcome, measure, sending } = request
  const offer = outcome.offersRecall ? recall : null
  const rules = { toolName: offer?.name ?? null, continues: mayContinue(request) }
  if (rules.toolName === null && !rules.continues) return null
  const shape = isAnswered(outcome) ? shapeOf(outcome.answer) : null
  if (shape === null) return null
  const { form } = outcome
  const { failures } = parts
  sending.isReplyBound = form.chat.dialect.replies.bindsThoughts || anyHasBoundThoughts(form.chat.messages)
  const counted = form.chat === chat ? (measure?.counted ?? null) : null
  const further = createFurtherAnswers({
    form,
    limits: {
      toolName: rules.toolName,
      recallsLeft: profile.recall.rounds,
      continuationsLeft: rules.continues ? profile.continuation.max : 0,
    },
    roomTokens: roomTokens(request),
    count: (text) => counted?.history.count(text) ?? Buffer.byteLength(text),
    send: sendFurther(request, shape, offer, parts),
    fit: (larger, budgetTokens) => fittingForm(larger, budgetTokens, sending, parts),
    goesOn: (next) => goesOn(next, shape),
    answerRecall: (...asked) => recallAnswer(counted, ...asked),
    failures,
  })
  const join = shape === 'stream' ? joinStream : joinPlain
  return join(outcome, observeAnswer(shape, request.dialect.answers, outcome.facts), {
    rules,
    further,
    failures,
  })
}

/** Whether a reply goes on in an answer: in one of the same shape, and, where it was read whole, with a reply in it. */
function goesOn(outcome: Outcome, shape: AnswerShape): boolean {
  if (!isAnswered(outcome) || shapeOf(outcome.answer) !== shape) return false
  return shape === 'stream' || outcome.form.chat.dialect.replies.read(parsedBody(outcome)) !== null
}

/**
 * What is left of the budget, by the provider's own count of the prompt as far as that is known. Of a window that turned out
 * smaller only what was taken is known to fit.
 */
function roomTokens({ outcome: { form, remedy }, measure }: AnsweredRequest): number {
  if (measure === null || remedy === 'recovered') return 0
  const { counted, budgetTokens } = measure
  const leftTokens = budgetTokens - form.sentTokens
  const isCounted = counted !== null && (form.compacted?.compaction ?? null) === counted.compaction
  if (!isCounted || counted.anchor === null) return leftTokens
  return leftTokens - counted.differenceTokens - (counted.room.aroundTokens - counted.aroundTokens)
}

/** A reply that has to keep to a schema begins a new one each time, and of several none is the one that was cut. */
function mayContinue({ profile, chat }: ReadRequest): boolean {
  const { repliesWanted, schema, canGoOn } = chat.body
  const isOne = repliesWanted === 1 && canGoOn
  return profile.continuation.max > 0 && !profile.observe && isOne && schema === null
}

/** Joins plain answers, further ones as they were read, until the reply is over. What cannot be read goes on as it came. */
async function joinPlain(
  first: Outcome,
  observer: AnswerObserver,
  { rules, further }: JoinOptions,
): Promise<JoinedReply> {
  const plain = first.form.chat.dialect.replies.join(rules)
  let outcome = await readWhole(first)
  for (const piece of outcome.held) {
    observer.tap(piece)
    await pauseIfDue()
  }
  for (;;) {
    const reply = plain.takePlain(parsedBody(outcome))
    if (reply === null) break
    const next = await further.after(reply)
    if (next.kind === 'refused') return joined(next.outcome)
    if (next.kind === 'end') {
      const body = plain.finishPlain()
      const text = body === null ? null : stringifyJson(body)
      return joined(text === null ? outcome : withBody(outcome, first.answer, text))
    }
    plain.goOn(next.seam)
    outcome = next.outcome
  }
  return joined(outcome)

  function joined(last: Outcome): JoinedReply {
    const { form, remedy, asksUsage, offersRecall, firstByteMs } = first
    const told = { form, remedy, asksUsage, offersRecall, firstByteMs }
    // Made now: while the answer is delivered, nothing of the request is to be held.
    const total = { ...further.counts(), usage: plain.usage() }
    return {
      outcome: { ...last, ...told },
      isOpen: false,
      observer: { tap: () => {}, end: observer.end },
      total: () => total,
    }
  }
}

function withBody(outcome: Outcome, { rawHeaders, status, statusText }: Answer, text: string): Outcome {
  const body = madeBody([Buffer.from(text)])
  const headers = { rawHeaders: withoutLength(rawHeaders), status, statusText }
  const { facts: _facts, ...others } = outcome
  return { ...others, answer: { ...outcome.answer, ...headers, body }, held: [] }
}

/** A refusal as servers state one in the middle of a stream, where it is JSON. */
async function* errorEvent(outcome: Outcome, replies: Replies): AsyncGenerator<Buffer, void, void> {
  const { held } = await readWhole(outcome, ERROR_BYTES_MAX)
  outcome.answer.body.destroy()
  const error = parseJsonText(Buffer.concat(held).toString('utf8'))
  if (isJsonObject(error)) yield Buffer.from(replies.errorEvent(error))
}

/** An event with the bytes that it came in. */
type RawEvent = { readonly text: string; readonly bytes: Buffer }

/** How long an answer may take to end behind its last event, in milliseconds. */
const DRAIN_MS = 250

/** An event of that size holds a picture. A longer one, and what follows it, goes on as it comes. */
const EVENT_BYTES_MAX = 4 * 1024 * 1024

/** What a reply may take of a stream, in bytes, to be kept for what goes on from it; from there on it goes on as it comes. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024

const LINE_END_BYTES_MAX = 2

const nothing = Buffer.alloc(0)

function bytesOf(events: readonly (RawEvent | string)[]): Buffer {
  return Buffer.concat(events.map((event) => (typeof event === 'string' ? Buffer.from(event) : event.bytes)))
}

/** The pieces of an answer. What happens to it once it `isOver` does not matter any more. */
async function* pieces({ held, answer }: Outcome, isOver: () => boolean): AsyncGenerator<Buffer, void, void> {
  yield* held
  if (answer.body.isEnded) return
  try {
    for await (const piece of answer.body) yield piece
  } catch (error) {
    if (!isOver()) throw error
  }
}
