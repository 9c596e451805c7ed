import { describe, expect, test } from 'vitest'
import type { AcceptedRequest } from '../../support/strict-upstream/strict-upstream.ts'
import type { TestMessage } from '../../support/conversations.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import { summaryStand, type SummaryStandOptions } from './summary-stand.ts'
import { isCompacted, isPending, summariesIn, turnsUntil } from './turns-until.ts'

/** What the model is told at the end of a conversation, and in a transcript's stead. */
const INSTRUCTION = 'does not come from the user'
const TRANSCRIPT = /<messages-[\w-]+>/

const written = `## Goal and constraints
Repair what the nightly run breaks, one file after the other.
## Facts
BLD-7001 ended with code 301 in src/f1.ts.`

/** A stand whose main upstream writes the summaries itself; they are kept apart from the agent's own requests. */
async function ownModelStand(
  options: SummaryStandOptions = {},
  asSent: (message: TestMessage) => TestMessage = (message) => message,
  more: object = {},
) {
  const asked: AcceptedRequest[] = []
  const sent: AcceptedRequest[] = []
  const stand = await summaryStand({
    windowTokens: 60_000,
    ...options,
    profile: { ...options.profile, summary: { upstream: null, model: null } },
    reply: (request) => {
      const last = request.rawMessages.at(-1) ?? ''
      if (!last.includes(INSTRUCTION) && !TRANSCRIPT.test(last)) {
        sent.push(request)
        return { content: 'Understood.' }
      }
      asked.push(request)
      return options.reply?.(request) ?? { content: written }
    },
  })
  const agent = stand.agent({
    roundTokens: 1500,
    asSent: (messages) => messages.map(asSent),
    more: {
      stream: false,
      n: 1,
      stop: ['never'],
      temperature: 0.5,
      tools: [tool],
      max_completion_tokens: 700,
      ...more,
    },
  })
  return { stand, agent, asked, sent }
}

const tool = {
  type: 'function',
  function: { name: 'read_file', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
}

const isCached = ({ rawMessages }: AcceptedRequest): boolean =>
  rawMessages.at(-1)?.includes(INSTRUCTION) === true

describe('a summary by the request’s own model', () => {
  test('is asked for at the end of what was just sent, which the provider reads from its cache', async () => {
    const { stand, agent, asked, sent } = await ownModelStand()
    await using _ = stand
    await turnsUntil(agent, isPending)
    await expect.poll(() => asked.length).toBe(1)
    const [call] = asked
    const before = sent.at(-1)
    if (call === undefined || before === undefined) throw new Error('both were sent')
    expect(isCached(call)).toBe(true)
    // The bytes of the messages, the tools, and everything else that a prompt is made of.
    expect(isBeginning(call.rawMessages.slice(0, -1), before.rawMessages)).toBe(true)
    expect(call.body['tools']).toEqual([tool])
    expect(call.cachedTokens).toBeGreaterThan(call.promptTokens * 0.9)
    // What belongs to the client's own answer stays behind.
    expect(Object.keys(call.body).toSorted()).toEqual(
      ['max_completion_tokens', 'messages', 'model', 'temperature', 'tools'].toSorted(),
    )
    expect(call.body['max_completion_tokens']).toBe(1024 + 8192)
    const turns = await turnsUntil(agent, isCompacted)
    expect(summariesIn(turns.at(-1) ?? { received: [] })).toEqual([expect.stringContaining('BLD-7001')])
  })

  test('is asked for with a transcript where the provider states nothing of a cache', async () => {
    const { stand, agent, asked } = await ownModelStand({ statesUsage: false })
    await using _ = stand
    await turnsUntil(agent, isPending)
    await expect.poll(() => asked.length).toBe(1)
    expect(asked.map(isCached)).toEqual([false])
  })

  test('is asked for once more with a transcript where the conversation itself made the model call a tool', async () => {
    const { stand, agent, asked } = await ownModelStand({
      reply: (request) =>
        isCached(request)
          ? { content: null, toolCalls: [{ id: 'call_1', name: 'read_file', argumentsText: '{"path":"a"}' }] }
          : { content: written },
    })
    await using _ = stand
    await turnsUntil(agent, isPending)
    await expect.poll(() => asked.length).toBe(2)
    expect(asked.map(isCached)).toEqual([true, false])
    const turns = await turnsUntil(agent, isCompacted)
    expect(turns.at(-1)?.summary).toBe('ready')
  })

  // A form that the client wants its own answer in would be the summary's, too.
  test.each([
    ['answers in a form', { response_format: { type: 'json_object' } }],
    ['must call a tool', { tool_choice: 'required' }],
  ])('is asked for with a transcript where the model %s', async (...[, more]) => {
    const { stand, agent, asked } = await ownModelStand({}, undefined, more)
    await using _ = stand
    await turnsUntil(agent, isPending)
    await expect.poll(() => asked.length).toBe(1)
    expect(asked.map(isCached)).toEqual([false])
  })

  test('is asked for with a transcript where the view does not show as it was what is to be summarised', async () => {
    const { stand, agent, asked } = await ownModelStand({ profile: { render: { at: 0 } } }, (message) =>
      message['role'] === 'tool'
        ? { ...message, content: `\u001b[31m${String(message['content'])}` }
        : message,
    )
    await using _ = stand
    await turnsUntil(agent, isPending)
    await expect.poll(() => asked.length).toBe(1)
    expect(asked.map(isCached)).toEqual([false])
  })
})
