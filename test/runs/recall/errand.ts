import { RECALL_NO_MORE } from '../../../src/pipeline/reply/further-answers.ts'
import { readRecallPage } from '../../support/recall-pages.ts'
import { startStrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'
import { isObject, type WireMessage } from '../../support/strict-upstream/wire-message.ts'
import { type ReceivedRequest, standBetween } from '../harness/stage.ts'

/** What a model wants to find again, and how it goes about it. */
export type Errand = {
  /** The first call's arguments, as JSON. */
  readonly first: string
  /** Whether a text holds what is wanted. */
  readonly isIn: (text: string) => boolean
}

/** What came of it: how many calls were answered, and whether the answers held it. */
export type ErrandReport = {
  readonly calls: number
  readonly isFound: boolean
  /** The arguments with which a further reply reads on; null where all was read. */
  readonly rest: string | null
}

/** A model on an errand: it calls the tool, reads on where a page ends, and stops when it has found what it wants. */
export type Errands = {
  /** Sends the model on an errand. The returned function ends it and tells what came of it. */
  readonly begin: (errand: Errand) => () => ErrandReport
  /** The arguments of its next call; null where it is done, has no errand, or cannot call. */
  readonly next: (messages: readonly WireMessage[], offersTool: boolean) => string | null
}

export function openErrands(): Errands {
  let current: Errand | null = null
  let calls = 0
  let isFound = false
  /** The pages so far, without what they say of themselves. */
  let read = ''
  let rest: string | null = null

  return {
    begin: (errand) => {
      current = errand
      calls = 0
      isFound = false
      read = ''
      rest = errand.first
      return () => {
        current = null
        return { calls, isFound, rest }
      }
    },
    next: (messages, offersTool) => {
      if (current === null || !offersTool || isFound) return null
      const answer = answerIn(messages)
      if (answer === null) return calls === 0 ? current.first : null
      if (answer === RECALL_NO_MORE) return null
      calls += 1
      const { text, next } = readRecallPage(answer, current.first)
      read += text
      isFound = current.isIn(read)
      rest = next
      return isFound ? null : next
    },
  }
}

/** By which calls on errands are told from recorded ones. */
export const CALL_ID = 'recall-run-'

/** A Foldgate with `recall.enabled` between a client and an upstream whose model goes on errands, over sockets. */
export type RecallStage = {
  /** What the upstream got for a request; null where it accepted nothing. */
  readonly send: (body: Buffer) => Promise<ReceivedRequest | null>
  /** The same request, with the model on an errand. */
  readonly sendOn: (errand: Errand, body: Buffer) => Promise<ErrandReport>
  readonly close: () => Promise<void>
}

type RecallStageOptions = {
  readonly windowTokens: number
  /** Whether the upstream refuses broken sequences. */
  readonly rules: 'enforced' | 'unchecked'
  readonly count: (text: string) => number
}

export async function openRecallStage(options: RecallStageOptions): Promise<RecallStage> {
  const errands = openErrands()
  let calls = 0
  const upstream = await startStrictUpstream({
    ...options,
    template: 'lenient',
    outputReserveChecked: true,
    reply: ({ body, messages }) => {
      const next = errands.next(messages, namesTool(body['tools']))
      if (next === null) return { content: 'Replayed.' }
      calls += 1
      return {
        content: null,
        toolCalls: [{ id: `${CALL_ID}${calls}`, name: TOOL, argumentsText: next }],
      }
    },
  })
  const { ask, close } = await standBetween({
    upstream,
    profile: { window: { tokens: options.windowTokens }, recall: { enabled: true, rounds: ROUNDS_MAX } },
    endpoint: 'chat/completions',
    isReply: () => true,
  })
  const send = async (body: Buffer) => (await ask(body, 'Bearer agent')).received
  return {
    send: async (body) => (await send(body)).find(({ rejected }) => rejected === null) ?? null,
    sendOn: async (errand, body) => {
      const end = errands.begin(errand)
      await send(body)
      return end()
    },
    close,
  }
}

/** The answer to the tool's last call; null where the last message is none. */
function answerIn(messages: readonly WireMessage[]): string | null {
  const last: Readonly<Record<string, unknown>> = messages.at(-1) ?? {}
  const isOurs = last['role'] === 'tool' && String(last['tool_call_id']).startsWith(CALL_ID)
  return isOurs && typeof last['content'] === 'string' ? last['content'] : null
}

const TOOL = 'recall_conversation'

/** As many as a profile takes: how many were needed is what is measured. */
const ROUNDS_MAX = 100

const namesTool = (tools: unknown): boolean =>
  Array.isArray(tools) &&
  tools.some(
    (tool: unknown) => isObject(tool) && isObject(tool['function']) && tool['function']['name'] === TOOL,
  )
