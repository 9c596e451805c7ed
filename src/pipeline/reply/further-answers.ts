import type { AnsweredRequest, Counted, Form, Outcome, RecallOffer, ReplyCounts, Send } from '../request.ts'
import { FoldgateError } from '../../errors.ts'
import type { AnsweredCall, Reply, ReplyCall, Seam } from '../../formats/answer-contract.ts'
import { withOwnIds } from '../../formats/turns.ts'
import type { Failures } from '../../telemetry/failures.ts'
import { discard, retrying } from '../send/outcome.ts'
import { answerRecall } from '../../recall/answer-recall.ts'
import { runInSlices } from '../../scheduling/drive.ts'
import { withTool } from '../recall/recall-offer.ts'
import { type AnswerShape, shapeOf } from '../../upstream/answer-head.ts'
import { withEdits } from '../send/outgoing-body.ts'
import { recoverFromOverflow } from '../send/recover-from-overflow.ts'
import type { SendingParts } from '../request-parts.ts'
import { askForUsage } from '../send/usage-in-streams.ts'
import { callAgain, continuationSeam, continuedText, lastWordsOf, paragraphSeam } from './seams.ts'
import { readWhole } from './whole-answer.ts'

/** What becomes of a reply that is not over yet. */
export type Further =
  /** The reply is complete as it is. */
  | { readonly kind: 'end' }
  /** It goes on in another answer. */
  | {
      readonly kind: 'answer'
      readonly outcome: Outcome
      readonly seam: Seam
      /** Whether the reply is one that was cut, should this answer break off: then nothing of it is lost. */
      readonly standsCut: boolean
    }
  /** It cannot go on, and without that it is nothing: what the upstream said last. */
  | { readonly kind: 'refused'; readonly outcome: Outcome }

export type FurtherAnswers = ReturnType<typeof createFurtherAnswers>

type FurtherAnswersOptions = {
  /** The request as it was answered. */
  readonly form: Form
  readonly limits: StepLimits
  /** What is left of the budget beside the request, in our tokens. */
  readonly roomTokens: number
  readonly count: (text: string) => number
  /** Sends a further request; the answer as far as it has to be read to be judged. */
  readonly send: (further: FurtherRequest) => Promise<Outcome>
  /** A form of the request of at most so many tokens; null where there is none. */
  readonly fit: (form: Form, budgetTokens: number) => Promise<Form | null>
  /** Whether a reply goes on in this answer. */
  readonly goesOn: (outcome: Outcome) => boolean
  /** The answer to a call of Foldgate's tool, with what is left of the budget beside this form of the request. */
  readonly answerRecall: (argumentsText: string, form: Form, roomTokens: number) => Promise<string>
  readonly failures: Pick<Failures, 'around' | 'note'>
}

/** Answers what the model asked of Foldgate, and has it go on where its reply was cut. */
export function createFurtherAnswers(options: FurtherAnswersOptions) {
  const { failures, goesOn } = options
  const { replies } = options.form.chat.dialect
  /** The request as it was last sent. */
  let { form, limits } = options
  /** What was said and answered since the request, as messages. */
  let turns: readonly string[] = []
  /** What the model said since then, where it was cut. */
  let said = ''
  let recalls = 0
  /** How many calls that took. */
  let answeredCalls = 0
  let continuations = 0

  function roomBeside(messages: readonly string[]): number {
    const room = options.roomTokens + options.form.sentTokens - form.sentTokens
    return messages.reduce((left, message) => left - options.count(message), room)
  }

  function moveBehind(next: Form): void {
    if (next !== form) turns = replies.unbound(turns)
    form = next
  }

  async function recall(reply: Reply, calls: readonly ReplyCall[], isTooOften: boolean): Promise<Further> {
    const room = roomBeside(turns)
    // What was read so far is worth more than another page that does not fit.
    const isOver = isTooOften || (recalls > 0 && room < RECALL_ROOM_TOKENS_MIN)
    const text = said + (reply.text ?? '')
    const seam = paragraphSeam(text)
    said = ''
    recalls += 1
    limits = { ...limits, recallsLeft: isOver ? -1 : limits.recallsLeft - 1 }
    const answered = await failures.around('recall', null, () => answersTo(calls, isOver ? null : room))
    if (answered !== null) {
      const named = withOwnIds(answered, answeredCalls)
      answeredCalls += answered.length
      turns = [...turns, ...replies.answeredCalls(text, reply, named)]
      const outcome = await sent({ form, turns, offersRecall: !isOver })
      if (outcome !== null && goesOn(outcome)) return { kind: 'answer', outcome, seam, standsCut: false }
      refused('recall', outcome)
    }
    // As if there were no such tool: the request is answered once more, without it.
    limits = { ...limits, toolName: null }
    turns = []
    const plain = await options.send({ form, turns, offersRecall: false })
    return goesOn(plain)
      ? { kind: 'answer', outcome: plain, seam, standsCut: false }
      : { kind: 'refused', outcome: plain }
  }

  /** @param roomTokens null: nothing more is read back. */
  async function answersTo(calls: readonly ReplyCall[], roomTokens: number | null): Promise<AnsweredCall[]> {
    const answered: AnsweredCall[] = []
    let room = roomTokens
    for (const call of calls) {
      const answer =
        room === null ? RECALL_NO_MORE : await options.answerRecall(call.argumentsText, form, room)
      if (room !== null) room -= options.count(answer)
      answered.push({ call, answer })
    }
    return answered
  }

  async function continueWith(messages: readonly string[], seam: Seam): Promise<Further> {
    const room = roomBeside([...turns, ...messages])
    // A long reply is cut where the prompt is long, too: what it says needs the room that the prompt had.
    const fitting = room < 0 ? await options.fit(form, form.sentTokens + room) : form
    if (fitting === null) return { kind: 'end' }
    moveBehind(fitting)
    const outcome = await sent({
      form,
      turns: [...turns, ...messages],
      offersRecall: limits.toolName !== null,
    })
    if (outcome === null || !goesOn(outcome)) {
      refused('continuation', outcome)
      return { kind: 'end' }
    }
    continuations += 1
    limits = { ...limits, continuationsLeft: limits.continuationsLeft - 1 }
    return { kind: 'answer', outcome, seam, standsCut: true }
  }

  /** A reply that was cut within a call says nothing, maybe, but that it called. */
  function repeatedCall(tool: string): readonly string[] {
    return replies.goOn(said === '' ? `[calling ${tool}: cut off]` : said, callAgain(tool))
  }

  function refused(part: 'recall' | 'continuation', outcome: Outcome | null): void {
    // What it says is nobody's to read, and left open it keeps its place where an upstream takes few at a time.
    if (outcome !== null) discard(outcome.answer)
    const status = outcome === null ? 'it could not be reached' : `status ${outcome.answer.status}`
    failures.note(part, new Error(`the upstream did not go on: ${status}`))
  }

  /** Null where it fails on the wire. */
  async function sent(further: FurtherRequest): Promise<Outcome | null> {
    try {
      const outcome = await options.send(further)
      if (goesOn(outcome)) moveBehind(outcome.form)
      return outcome
    } catch (error) {
      if (error instanceof FoldgateError) return null
      throw error
    }
  }

  return {
    /** Asks the upstream to go on from a reply, where that is called for. Rejects where the upstream cannot be reached, or the client left. */
    after: async (reply: Reply): Promise<Further> => {
      const step = nextStep(reply, limits)
      if (step.kind === 'end') return step
      if (step.kind === 'recall') return recall(reply, step.calls, step.isTooOften)
      said += reply.text ?? ''
      if (step.kind === 'repeat-call') return continueWith(repeatedCall(step.name), paragraphSeam(said))
      const lastWords = lastWordsOf(said)
      return continueWith(replies.goOn(said, continuedText(lastWords)), continuationSeam(said, lastWords))
    },
    /** How often either was done. */
    counts: (): ReplyCounts => ({ recalls, continuations }),
  }
}

/** What is to be done when a reply has ended. */
type Step =
  | { readonly kind: 'end' }
  /** Foldgate answers these calls, and the model goes on. `isTooOften`: often enough, so that it is told that there are no more answers. */
  | { readonly kind: 'recall'; readonly calls: readonly ReplyCall[]; readonly isTooOften: boolean }
  /** The text was cut. */
  | { readonly kind: 'continue-text' }
  /** A call was cut before its arguments were complete. */
  | { readonly kind: 'repeat-call'; readonly name: string }

export type StepLimits = {
  /** The name of the tool that Foldgate answers; null where it was not offered. */
  readonly toolName: string | null
  /** How often its calls may still be answered; -1 where the model has been told that they are not. */
  readonly recallsLeft: number
  readonly continuationsLeft: number
}

/**
 * What follows a reply. Where it mixes Foldgate's calls with the client's, the client's are made and the others are
 * not: a call that was made cannot be taken back, and both at once cannot be answered in one request.
 *
 * @internal exported for tests
 */
export function nextStep(reply: Reply, limits: StepLimits): Step {
  const ours = reply.calls.filter(({ name }) => name === limits.toolName)
  const clients = reply.calls.filter(({ name }) => name !== limits.toolName)
  if (ours.length > 0 && clients.length === 0) {
    return limits.recallsLeft < 0
      ? { kind: 'end' }
      : { kind: 'recall', calls: ours, isTooOften: limits.recallsLeft === 0 }
  }
  if (reply.finish !== 'length' || reply.hasRefusal || limits.continuationsLeft <= 0) return { kind: 'end' }
  const [only] = clients
  if (only === undefined)
    return reply.text === null || reply.text.trim() === '' ? { kind: 'end' } : { kind: 'continue-text' }
  // What else was called is made now: the client's next request goes on from there.
  return clients.length === 1 && only.isIncomplete
    ? { kind: 'repeat-call', name: only.name }
    : { kind: 'end' }
}

/** @internal exported for tests. What a model is told that has called the tool too often, or read so much that there is no room for more. */
export const RECALL_NO_MORE =
  'No more of the conversation can be read back in this reply. Answer with what you have, or call another tool.'

/** With less room than this nothing more is read back in a reply that has read something, in our tokens. */
const RECALL_ROOM_TOKENS_MIN = 512

/**
 * Answers a call of the tool from the client's own conversation: a page of at most a quarter of what is left of the
 * budget. `counted` null: nothing had to be counted, so nothing was left out.
 */
export async function recallAnswer(
  counted: Counted | null,
  argumentsText: string,
  { compacted }: Form,
  roomTokens: number,
): Promise<string> {
  if (counted === null || compacted === null) return NOTHING_LEFT_OUT
  const tokensMax = Math.max(PAGE_TOKENS_MIN, Math.floor(roomTokens * PAGE_SHARE))
  return runInSlices(answerRecall({ history: counted.history, compacted }, argumentsText, tokensMax))
}

/** A form of a request with further messages, as JSON, behind its own. */
export type FurtherRequest = {
  readonly form: Form
  readonly turns: readonly string[]
  readonly offersRecall: boolean
}

/**
 * Sends further requests: in a smaller form, where one is refused as too long, like any request. `shape` is that of the
 * first answer: one that is read whole is read here. Rejects where the client left meanwhile.
 */
export function sendFurther(
  { exchange, outcome: first, sending }: AnsweredRequest,
  shape: AnswerShape,
  offer: RecallOffer | null,
  parts: SendingParts,
): (further: FurtherRequest) => Promise<Outcome> {
  return async function sendOneFurther({ form, turns, offersRecall }) {
    // Whether a further request goes without its usage is found out by itself: what was refused in the one before may have
    // been something else of it.
    sending.refused.delete('usage')
    sending.isUsageSuspected = false
    const sendWithTurns: Send = async (base) => {
      const added = withTurns(base, base === form ? turns : base.chat.dialect.replies.unbound(turns))
      const sent = await parts.senders.once(
        offersRecall && offer !== null ? withTool(added, offer) : added,
        sending,
      )
      return { ...sent, form: base }
    }
    // The first answer was asked for its usage, or not: its event is hidden from then on, or not.
    const send = first.asksUsage ? askForUsage(sendWithTurns, parts) : sendWithTurns
    const outcome = await retrying(send, [recoverFromOverflow], parts)(form, sending)
    if (shape !== 'json' || shapeOf(outcome.answer) !== 'json') return outcome
    const read = await readWhole(outcome)
    exchange.signal.throwIfAborted()
    return read
  }
}

// --- internal ---

const PAGE_SHARE = 0.25

/** Less says nothing. Where the budget is spent it is the reserve that gives it. */
const PAGE_TOKENS_MIN = 256

const NOTHING_LEFT_OUT =
  'Nothing was left out of this conversation so far: all of its messages stand above, word for word.'

/** The form with further messages, as JSON, behind its own. */
function withTurns(form: Form, turns: readonly string[]): Form {
  const at = form.chat.body.history.end - 1
  const text = turns.map((message) => `,${message}`).join('')
  return withEdits(form, { at: { start: at, end: at }, text })
}
