import type { Answers, Usage } from '../../dialects/answer-contract.ts'
import { watchStream } from '../../overflow/answer-watch.ts'
import { judgeJson } from '../../overflow/classify-ending.ts'
import { shapeOf } from '../../upstream/answer-shape.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import { observeAnswer } from '../observe.ts'
import type { Judged } from '../request.ts'
import { judge } from '../send/judge.ts'
import type { Kind } from './kinds.ts'
import { keepStreamEnds } from './stream-ends.ts'

/** What a glance at the answer to a small request shows. */
export type Glance =
  /** Somebody has to look into it. `judged`: what was found out, if the beginning of it was taken for that. */
  | { readonly isOdd: true; readonly judged: Judged | null }
  /** It may go on as it comes. */
  | {
      readonly isOdd: false
      /** What was taken of it. */
      readonly held: readonly Buffer[]
      /** Sees what goes on. */
      readonly tap: (piece: Buffer) => void
      /** What it states of its usage, once it is over. */
      readonly usage: () => Usage | null
    }

/** Looks at an answer as far as it is there, and waits only where that tells nothing of one that may be an overflow. */
export function glanceAt(answer: Answer, answers: Answers, kind: Kind): Glance | Promise<Glance> {
  const shape = shapeOf(answer)
  if (shape === null) return { isOdd: true, judged: null }
  const { atHand } = answer.body
  if (shape === 'json' && atHand?.isWhole === true) return glanceAtJson(atHand.bytes, answers, kind)
  if (!kind.isHearsay) return flowing(answer, answers, [])
  const hasBegun = shape === 'stream' && atHand !== null && beginsReply(atHand.bytes, answers, kind)
  return hasBegun ? flowing(answer, answers, []) : afterHolding(answer, answers, kind)
}

// --- internal ---

/** A plain answer that is there as a whole: what it is need not be found out again at its end. */
function glanceAtJson(bytes: Buffer, answers: Answers, { isHearsay, measure }: Kind): Glance {
  const knownWindowTokens = isHearsay ? measure.window.tokens : null
  const { facts, classification } = judgeJson(bytes.toString('utf8'), answers, { knownWindowTokens })
  const isOdd = isHearsay && (facts?.isError === true || classification.class === 'overflow')
  if (isOdd) return { isOdd, judged: null }
  return { isOdd: false, held: [], tap: nothing, usage: () => facts?.usage ?? null }
}

/** Whether the first bytes of a stream hold output: then it is no overflow. */
function beginsReply(bytes: Buffer, answers: Answers, { measure }: Kind): boolean {
  const knowledge = { knownWindowTokens: measure.window.tokens }
  return watchStream(answers, knowledge).feed(bytes.toString('utf8')).state === 'good'
}

function nothing(): void {
  // What it says is known.
}

async function afterHolding(answer: Answer, answers: Answers, { profile, measure }: Kind): Promise<Glance> {
  const judged = await judge(answer, {
    answers,
    mayOverflow: true,
    mayBeRefused: false,
    holdMs: profile.overflow.hold_ms,
    knownWindowTokens: measure.window.tokens,
    expectedPromptTokens: null,
  })
  return judged.verdict === 'good' ? flowing(answer, answers, judged.held) : { isOdd: true, judged }
}

function flowing(answer: Answer, answers: Answers, held: readonly Buffer[]): Glance {
  if (shapeOf(answer) === 'stream') {
    const { tap, usage } = keepStreamEnds(answers)
    return { isOdd: false, held, tap, usage }
  }
  const observer = observeAnswer(answer, answers)
  return { isOdd: false, held, tap: observer.tap, usage: () => observer.end()?.usage ?? null }
}
