import type { Form, Outcome, ReplyCounts } from '../request.ts'
import { FoldgateError } from '../../errors.ts'
import type { AnsweredCall, CallRules, Reply, ReplyCall, Seam } from '../../formats/answer-contract.ts'
import type { Failures } from '../../telemetry/failures.ts'
import { RECALL_NO_MORE, RECALL_ROOM_TOKENS_MIN } from '../recall/recall-answers.ts'
import type { FurtherRequest } from './send-further.ts'
import { discard } from '../send/outcome.ts'

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

export type FurtherAnswers = {
  /** Asks the upstream to go on from a reply, where that is called for. Rejects where the upstream cannot be reached, or the client left. */
  readonly after: (reply: Reply) => Promise<Further>
  /** How often either was done. */
  readonly counts: () => ReplyCounts
}

/** What joins the answers of a reply. */
export type JoinOptions = {
  readonly rules: CallRules
  readonly further: FurtherAnswers
  readonly failures: Pick<Failures, 'note'>
}

export type FurtherAnswersOptions = {
  /** The request as it was answered. */
  readonly form: Form
  readonly toolName: string | null
  readonly recallRounds: number
  readonly continuationsMax: number
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
export function createFurtherAnswers(options: FurtherAnswersOptions): FurtherAnswers {
  const { failures, goesOn } = options
  const { replies } = options.form.chat.dialect
  /** The request as it was last sent. */
  let { form } = options
  let limits: StepLimits = {
    toolName: options.toolName,
    recallsLeft: options.recallRounds,
    continuationsLeft: options.continuationsMax,
  }
  /** What was said and answered since the request, as messages. */
  let turns: readonly string[] = []
  /** What the model said since then, where it was cut. */
  let said = ''
  let recalls = 0
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
      turns = [...turns, ...replies.answeredCalls(text, reply, answered, recalls - 1)]
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

  function continueText(): Promise<Further> {
    const lastWords = lastWordsOf(said)
    return continueWith(replies.goOn(said, continuedText(lastWords)), continuationSeam(said, lastWords))
  }

  /** A reply that was cut within a call says nothing, maybe, but that it called. */
  function repeatedCall(tool: string): readonly string[] {
    return replies.goOn(said === '' ? `[calling ${tool}: cut off]` : said, callAgain(tool))
  }

  function refused(part: 'recall' | 'continuation', outcome: Outcome | null): void {
    // What it says is nobody's to read, and left open it keeps its place where an upstream takes few at a time.
    if (outcome !== null) discard(outcome.answer)
    failures.note(part, new Error(`the upstream did not go on: ${statusOf(outcome)}`))
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
    after: async (reply) => {
      const step = nextStep(reply, limits)
      switch (step.kind) {
        case 'end':
          return step
        case 'recall':
          return recall(reply, step.calls, step.isTooOften)
        case 'continue-text':
          said += reply.text ?? ''
          return continueText()
        case 'repeat-call':
          said += reply.text ?? ''
          return continueWith(repeatedCall(step.name), paragraphSeam(said))
      }
    },
    counts: () => ({ recalls, continuations }),
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

/** @internal exported for tests. A new utterance begins a paragraph of its own. */
export function paragraphSeam(before: string): Seam {
  let gap = before === '' || before.endsWith('\n') ? '' : '\n\n'
  return {
    feed: (text) => {
      if (text === '') return ''
      const joined = gap + text
      gap = ''
      return joined
    },
    end: () => '',
  }
}

/**
 * The last words of a text that was cut, which the model is asked to begin with, so that it is sure where the two
 * meet; '' where no words stand there only once, and the end could not be told from an earlier place.
 *
 * @internal exported for tests
 */
export function lastWordsOf(text: string): string {
  const trimmed = text.trimEnd()
  for (let chars = LAST_WORDS_CHARS; chars <= LAST_WORDS_CHARS_MAX; chars *= 2) {
    const lastWords = wordsAtEnd(trimmed, chars)
    if (new Set(lastWords).size < DISTINCT_CHARS_MIN) return ''
    if (trimmed.indexOf(lastWords) === trimmed.length - lastWords.length) return lastWords
    if (chars >= trimmed.length) return ''
  }
  return ''
}

/**
 * Joins the continuation of a text that was cut. Where it begins with the last words, as it was asked to, that is left out;
 * else it is taken as the text that follows.
 *
 * @internal exported for tests
 */
export function continuationSeam(before: string, lastWords: string): Seam {
  const blanks = before.slice(before.trimEnd().length)
  let held = ''
  let isOpen = lastWords !== ''

  function decided(isOver: boolean): string {
    const start = held.length - held.trimStart().length
    const said = held.slice(start)
    if (!isOver && said.length < lastWords.length + blanks.length && isBeginning(said)) return ''
    isOpen = false
    if (!said.startsWith(lastWords)) return held
    const rest = said.slice(lastWords.length)
    // What the text ended in is there already.
    let shared = 0
    while (shared < blanks.length && rest[shared] === blanks[shared]) shared += 1
    return rest.slice(shared)
  }

  /** Whether what was said may still turn out to be the last words and the blanks behind it. */
  function isBeginning(said: string): boolean {
    return said.length <= lastWords.length ? lastWords.startsWith(said) : said.startsWith(lastWords)
  }

  return {
    feed: (text) => {
      if (!isOpen) return text
      held += text
      return decided(false)
    },
    end: () => (isOpen ? decided(true) : ''),
  }
}

// --- internal ---

const CUT = 'Your reply was cut off by the limit on its length.'

/** Asks a model to go on with a text that ended in these words; '' if they would not tell where it ended. */
function continuedText(lastWords: string): string {
  const how =
    lastWords === ''
      ? 'Go on exactly where it stopped, without repeating anything.'
      : `Go on exactly where it stopped: begin with its last words, once more and unchanged, and continue from there. They were:\n${lastWords}`
  return `${CUT} ${how}\nAdd no introduction and no remark: both parts are read as one text.`
}

/** Asks a model to make a call again that was cut. */
function callAgain(tool: string): string {
  return `${CUT} That was in the middle of the call of ${tool}, before its arguments were complete, so it was not made. Make the call again in smaller pieces: the first piece now, each short enough to be written whole, and the others in later calls. Add no remark.`
}

function statusOf(outcome: Outcome | null): string {
  return outcome === null ? 'it could not be reached' : `status ${outcome.answer.status}`
}

/**
 * Enough words to be found only once, and few enough to be repeated without a mistake. Shorter ones may follow once
 * more by themselves: of 1.5 million places at which recorded replies were cut, 20 with half of it.
 */
const LAST_WORDS_CHARS = 96

const LAST_WORDS_CHARS_MAX = 384

/** Fewer are a ruler, a fence or a word or two, which may well go on as they began. */
const DISTINCT_CHARS_MIN = 12

function wordsAtEnd(text: string, chars: number): string {
  const tail = text.slice(-chars)
  if (tail.length === text.length) return tail.trimStart()
  // Half a word, or half a character, is no good beginning.
  const blank = tail.search(/\s/)
  const words = blank === -1 ? tail.replace(/^[\udc00-\udfff]/, '') : tail.slice(blank).trimStart()
  return words === '' ? tail.trimStart() : words
}
