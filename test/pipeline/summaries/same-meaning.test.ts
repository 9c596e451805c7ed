import { describe, expect, test } from 'vitest'
import type { TestMessage } from '../../support/conversations.ts'
import { long, summariesIn, type AgentOptions } from './growing-agent.ts'
import { summaryStand } from './summary-stand.ts'

/** Up to the second compaction. */
const TURNS = 11

/** What reached the summary model, and the agent's upstream, of an agent's run. */
async function run(agent: AgentOptions) {
  await using stand = await summaryStand()
  const turns = await stand.agent({ ...long, ...agent }).turns(TURNS, { pause: stand.quiet })
  return { turns, calls: stand.model.calls.map(({ text }) => text) }
}

/** A view without its system messages, and what the client itself changes from request to request. */
const conversing = (received: readonly string[]): readonly string[] =>
  received.flatMap((raw) => {
    const { role, content, tool_calls: calls, tool_call_id: id }: Partial<TestMessage> = JSON.parse(raw)
    return role === 'system' ? [] : [JSON.stringify({ role, content, calls, id })]
  })

const renamed = (messages: readonly TestMessage[], turn: number): readonly TestMessage[] =>
  JSON.parse(JSON.stringify(messages).replaceAll(/call_(\d+)/g, `call_${turn}x$1`))

const changes: readonly (readonly [string, AgentOptions])[] = [
  [
    'a clock in the system prompt, a cache mark that moves, fields that nobody knows, and other parameters',
    {
      asSent: (messages, turn) =>
        messages.map((message, index) => ({
          ...message,
          ...(index === 0 && { content: `It is ${turn} o’clock. You repair programs.` }),
          ...(index === messages.length - 1 && { cache_control: { type: 'ephemeral' } }),
          x_seen: turn * 1000 + index,
        })),
      more: { temperature: 0.3, user: 'somebody', metadata: { a: '1' } },
    },
  ],
  [
    'a system message more in front, from one request to the next',
    {
      asSent: (messages, turn) =>
        turn % 2 === 0 ? messages : [{ role: 'system', content: 'Mind the time.' }, ...messages],
    },
  ],
]

describe('what means the same is summarised once', async () => {
  const plain = await run({})

  test.each(changes)(
    '%s costs no further summary call, and changes no byte of a view but its own',
    async (_, agent) => {
      expect(plain.calls.length).toBeGreaterThan(1)
      expect(plain.turns.flatMap(summariesIn).length).toBeGreaterThan(3)
      const changed = await run(agent)
      expect(changed.calls).toEqual(plain.calls)
      expect(changed.turns.map(({ received }) => conversing(received))).toEqual(
        plain.turns.map(({ received }) => conversing(received)),
      )
    },
  )

  test('neither does an id of calls that is another at each request', async () => {
    const changed = await run({ asSent: renamed })
    expect(changed.calls).toEqual(plain.calls)
    expect(changed.turns.map(summariesIn)).toEqual(plain.turns.map(summariesIn))
  })
})
