import { Pool } from 'undici'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { startStrictUpstream, type StrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { CALL_ID, openErrands, type Errand, type ErrandReport } from './errand.ts'

type Received = StrictUpstream['requests'][number]

/** A Foldgate with `recall.enabled` between a client and an upstream whose model goes on errands, over sockets. */
export type RecallStage = {
  /** What the upstream got for a request; null where it accepted nothing. */
  readonly send: (body: Buffer) => Promise<Received | null>
  /** The same request, with the model on an errand. */
  readonly sendOn: (errand: Errand, body: Buffer) => Promise<ErrandReport>
  readonly close: () => Promise<void>
}

export type RecallStageOptions = {
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
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    profile: { window: { tokens: options.windowTokens }, recall: { enabled: true, rounds: ROUNDS_MAX } },
  })
  const { origin, pathname } = new URL(foldgate.url)
  const pool = new Pool(origin, { connections: 1 })

  async function post(body: Buffer): Promise<void> {
    upstream.forget()
    const answer = await pool.request({
      path: `${pathname}/chat/completions`,
      method: 'POST',
      headers: { authorization: 'Bearer agent', 'content-type': 'application/json' },
      body,
    })
    await answer.body.dump()
  }

  return {
    send: async (body) => {
      await post(body)
      return upstream.requests.find(({ method, rejected }) => method === 'POST' && rejected === null) ?? null
    },
    sendOn: async (errand, body) => {
      const end = errands.begin(errand)
      try {
        await post(body)
      } finally {
        upstream.forget()
      }
      return end()
    },
    close: async () => {
      await pool.close()
      await foldgate.close()
      await upstream.close()
    },
  }
}

// --- internal ---

const TOOL = 'recall_conversation'

/** As many as a profile takes: how many were needed is what is measured. */
const ROUNDS_MAX = 100

function namesTool(tools: unknown): boolean {
  return (
    Array.isArray(tools) &&
    tools.some(
      (tool: unknown) => isObject(tool) && isObject(tool['function']) && tool['function']['name'] === TOOL,
    )
  )
}
