import type { AnswerFacts, Answers } from '../../formats/answer-contract.ts'
import type { AnswerObserver, Judged } from '../request.ts'
import { type AnswerWatch, type WatchDecision, watchJson, watchStream } from '../../overflow/answer-watch.ts'
import { classifyAnswer, type WindowKnowledge } from '../../overflow/classify.ts'
import { createTailObserver, reportOf } from '../../overflow/tail-observer.ts'
import { type AnswerShape, shapeOf } from '../../upstream/answer-head.ts'
import { headerValue } from '../../upstream/credential.ts'
import { isLate } from '../../upstream/failure.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import { decodeBody } from '../../upstream/decode-body.ts'
import type { AnswerBody } from '../../upstream/answer-body.ts'
import { createGrowingBytes } from './event-cutter.ts'

export type JudgeOptions = {
  /** How an answer is read. */
  readonly answers: Answers
  /** Whether an answer with status 200 may still be an overflow; then it is held back. */
  readonly mayOverflow: boolean
  /** Whether a stream may begin with another refusal: of the request's form, or for a shared memory; then it is held, too. */
  readonly mayBeRefused: boolean
  /** The longest hold, in milliseconds. */
  readonly holdMs: number
  readonly knowledge: WindowKnowledge
}

/**
 * Looks at an answer before any of it reaches the client. Errors are read whole, within a bound; a 200 that
 * may still be an overflow is held until its first output. Everything else is left untouched.
 */
export async function judge(answer: Answer, options: JudgeOptions): Promise<Judged> {
  if (answer.status >= 400) return judgeError(answer, options)
  const shape = shapeOf(answer)
  const isHeld = options.mayOverflow || (options.mayBeRefused && shape === 'stream')
  if (shape === null || !isHeld) return passed(answer)
  const watch = shape === 'stream' ? watchStream : watchJson
  return hold(answer, watch(options.answers, options.knowledge), options)
}

/**
 * An observer for an answer that is passed on. `shape`: null where it is not read. `facts`: what it says, if it was read as a
 * whole before.
 */
export function observeAnswer(
  shape: AnswerShape | null,
  answers: Answers,
  facts: AnswerFacts | null = null,
): AnswerObserver {
  if (facts !== null) return { tap: () => {}, end: () => reportOf(facts) }
  if (shape === null) return { tap: () => {}, end: () => null }
  const { feed, end } = createTailObserver(shape, answers)
  const decoder = new TextDecoder()
  return { tap: (piece) => feed(decoder.decode(piece, { stream: true })), end }
}

export type HoldOptions = {
  /** Sees each piece as it comes; true means that enough is held. */
  readonly enough: (piece: Buffer) => boolean
  /** The longest wait, in milliseconds. */
  readonly holdMs: number
  /** The most that is held, in bytes. */
  readonly bytesMax: number
}

export type HeldBeginning = {
  readonly pieces: readonly Buffer[]
  /** Why holding ended: `ended` and `broken` mean that the body has no more to give. */
  readonly reason: 'enough' | 'time' | 'bytes' | 'ended' | 'broken'
  readonly error: unknown
}

/**
 * Takes the beginning of an answer's body and leaves the rest in it: `deliver` sends both. Never
 * rejects.
 */
export function holdBack(body: AnswerBody, options: HoldOptions): Promise<HeldBeginning> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const small = createGrowingBytes()
    let bytes = 0
    let timer: NodeJS.Timeout | undefined
    let isSettled = false

    function settle(reason: HeldBeginning['reason'], error: unknown = null): void {
      isSettled = true
      clearTimeout(timer)
      body.stopReading()
      if (small.length() > 0) pieces.push(small.take())
      resolve({ pieces, reason, error })
    }
    body.read({
      piece: (piece) => {
        bytes += piece.length
        if (piece.length < SMALL_BYTES) small.add(piece)
        else pieces.push(...(small.length() > 0 ? [small.take()] : []), piece)
        if (options.enough(piece)) settle('enough')
        else if (bytes >= options.bytesMax) settle('bytes')
      },
      end: () => settle('ended'),
      broken: (error) => settle('broken', error),
    })
    // Mostly enough of it is there by now.
    if (!isSettled) timer = setTimeout(settle, options.holdMs, 'time')
  })
}

/** Larger errors are pages, not messages. */
export const ERROR_BYTES_MAX = 256 * 1024

/** The longest wait for the rest of an error, in milliseconds. */
export const ERROR_HOLD_MS = 10_000

// --- internal ---

/** The most of a 200 that is held, in bytes. */
const HELD_BYTES_MAX = 4 * 1024 * 1024

/** Never a reason to compact: asked for again, such an answer only costs more. */
const passedStatuses: ReadonlySet<number> = new Set([401, 402, 403, 429])

function passed(answer: Answer, held: readonly Buffer[] = []): Judged {
  return { answer, held, verdict: 'good', classification: null }
}

async function judgeError(answer: Answer, options: JudgeOptions): Promise<Judged> {
  if (passedStatuses.has(answer.status)) return passed(answer)
  const contentType = headerValue(answer.rawHeaders, 'content-type') ?? ''
  const encoding = headerValue(answer.rawHeaders, 'content-encoding')
  const { pieces, reason } = await holdBack(answer.body, {
    enough: () => false,
    holdMs: ERROR_HOLD_MS,
    bytesMax: ERROR_BYTES_MAX,
  })
  if (reason === 'broken') return passed(answer, pieces)
  const raw = Buffer.concat(pieces)
  let allowed = ERROR_BYTES_MAX
  const decoded =
    encoding === null
      ? raw
      : await decodeBody(raw, encoding, (bytes) => {
          allowed -= bytes
          return allowed >= 0
        })
  const body = (decoded ?? raw).toString('utf8')
  const { status } = answer
  const classification = classifyAnswer({ status, contentType, body }, options.answers, options.knowledge)
  const verdict = classification.class === 'overflow' ? 'overflow' : 'refused'
  return { answer, held: pieces, verdict, classification }
}

async function hold(answer: Answer, watch: AnswerWatch, options: JudgeOptions): Promise<Judged> {
  const decoder = new TextDecoder()
  let decision: WatchDecision = { state: 'undecided' }
  const { pieces, reason, error } = await holdBack(answer.body, {
    enough: (piece) => {
      decision = watch.feed(decoder.decode(piece, { stream: true }))
      return decision.state !== 'undecided'
    },
    holdMs: options.holdMs,
    bytesMax: HELD_BYTES_MAX,
  })
  // One that is cut before its first event, if not its first comment, ends there; one that is waited for in vain does not.
  const endsUnsaid = reason === 'broken' && !isLate(error) && isUnsaid(pieces)
  if (reason === 'ended' || endsUnsaid) decision = watch.end()
  const facts = reason === 'ended' ? (watch.facts?.() ?? null) : null
  const held = { answer, held: pieces, ...(facts !== null && { facts }) }
  if (decision.state === 'overflow' || decision.state === 'refused')
    return { ...held, verdict: decision.state, classification: decision.classification }
  const isEmpty = options.mayOverflow && decision.state === 'empty'
  return { ...held, verdict: isEmpty ? 'empty' : 'good', classification: null }
}

function isUnsaid(held: readonly Buffer[]): boolean {
  return /^(?::.*\n|\s)*$/.test(Buffer.concat(held).toString('latin1'))
}

/** A smaller piece is copied to others: by itself it takes more than its bytes. */
const SMALL_BYTES = 1_024
