import { hash } from 'node:crypto'
import { openJudge } from '../../support/strict-upstream/judgement.ts'
import { openPromptCounter, REPLY_TOKENS } from '../../support/strict-upstream/prompt-tokens.ts'
import type { RawMessage, Recording } from '../replay/recordings.ts'
import type { Policy, PolicyInput } from './policies.ts'
import { requestBody } from './request-body.ts'
import type { Sender } from './sender.ts'

export type Room = {
  readonly windowTokens: number
  /** What is left for the reply. */
  readonly reserveTokens: number
}

/** What a policy is given of a recording at each of its requests. */
export function openPolicyInput(
  recording: Recording,
  room: Room,
  count: (text: string) => number,
): (point: number) => PolicyInput {
  const counter = openPromptCounter(count)
  const tools: unknown = recording.tools === '' ? undefined : JSON.parse(recording.tools)
  const aroundTokens = REPLY_TOKENS + counter.tools(hash('sha1', recording.tools), tools)
  const sizes = new Map<string, number>()
  const sizeOf = ({ text, message }: RawMessage) => {
    const known = sizes.get(text) ?? counter.message(hash('sha1', text), message)
    sizes.set(text, known)
    return known
  }
  const budgetTokens = room.windowTokens - room.reserveTokens - aroundTokens
  return (point) => ({ messages: recording.messages.slice(0, point), budgetTokens, sizeOf })
}

/** A client that compacts by itself: its bodies go to the judge that stands in the upstream, without a window. */
export function openPolicySender(
  policy: Policy,
  recording: Recording,
  inputAt: (point: number) => PolicyInput,
  count: (text: string) => number,
): Sender {
  const judge = openJudge({
    windowTokens: Number.POSITIVE_INFINITY,
    template: 'lenient',
    rules: 'unchecked',
    outputReserveChecked: false,
    count,
  })
  return {
    send: async (point) => {
      const texts = policy(inputAt(point)).map(({ text }) => text)
      const body = requestBody(recording, texts, 1)
      return { received: judge(body.toString('utf8'), 'client'), faults: {} }
    },
    close: async () => {},
  }
}
