import { hash } from 'node:crypto'
import { callsOf } from '../../support/strict-upstream/wire-message.ts'
import type { RawMessage, Recording } from '../harness/recordings.ts'

/** A request of a recording, and what was said next. */
export type Moment = {
  readonly conversation: Conversation
  /** How many messages the request carried. */
  readonly point: number
  readonly id: string
}

export type Conversation = { readonly id: string; readonly recording: Recording }

type MomentOptions = {
  /** A message by the judge's count, which Foldgate's window goes by. */
  readonly sizeOf: (message: RawMessage) => number
  readonly budgetTokens: number
  /** The same by the model's. */
  readonly modelSizeOf: (message: RawMessage) => number
  readonly fullTokensMax: number
}

/** The requests at which something had to go, and at which the whole conversation still fits into the model's window. */
export function momentsOf(conversation: Conversation, options: MomentOptions): readonly Moment[] {
  const { recording } = conversation
  const points = new Set(recording.points)
  const moments: Moment[] = []
  let [tokens, modelTokens] = [0, 0]
  for (const [point, message] of recording.messages.entries()) {
    const isAsked = points.has(point) && isSaying(message)
    if (isAsked && tokens > options.budgetTokens && modelTokens <= options.fullTokensMax)
      moments.push({ conversation, point, id: `${conversation.id}@${point}` })
    tokens += options.sizeOf(message)
    modelTokens += options.modelSizeOf(message)
  }
  return moments
}

/**
 * So many of them, as evenly over conversations as there are some: first one of each, then a second. The same seed draws
 * the same, and those of a smaller count are among those of a larger one. A conversation's stand together, in its order.
 */
export function drawMoments(
  moments: readonly Moment[],
  { count, seed }: { readonly count: number; readonly seed: number },
): readonly Moment[] {
  const lot = (name: string) => hash('sha1', `${seed} ${name}`)
  const inLots = moments.toSorted((one, other) => (lot(one.id) < lot(other.id) ? -1 : 1))
  const rounds = [...Map.groupBy(inLots, ({ conversation }) => conversation.id)]
    .toSorted(([one], [other]) => (lot(one) < lot(other) ? -1 : 1))
    .flatMap(([, own]) => own.map((moment, round) => ({ moment, round })))
    .toSorted((one, other) => one.round - other.round)
  const drawn = rounds.slice(0, count).map(({ moment }) => moment)
  return [...Map.groupBy(drawn, ({ conversation }) => conversation.id).values()].flatMap((own) =>
    own.toSorted((one, other) => one.point - other.point),
  )
}

/** Whether a conversation is an agent's: it calls tools. */
export const hasCalls = ({ messages }: Recording): boolean =>
  messages.some(({ message }) => callsOf(message).length > 0)

const isSaying = ({ message }: RawMessage): boolean =>
  message['role'] === 'assistant' && (callsOf(message).length > 0 || message['content'] !== '')
