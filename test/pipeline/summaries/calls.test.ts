import { describe, expect, test } from 'vitest'
import type { AcceptedRequest } from '../../support/strict-upstream/strict-upstream.ts'
import type { TestMessage } from '../../support/conversations.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import { isCompacted, isPending, long, summariesIn, turnsUntil, turnWhere } from './growing-agent.ts'
import { countedAlike, openStore, summaryStand, type SummaryStandOptions } from './summary-stand.ts'

describe('how summaries are asked for', () => {
  test('other settings make other summaries', async () => {
    await using stand = await summaryStand({ store: openStore(), profile: { window: countedAlike } })
    const agent = stand.agent(long)
    await turnsUntil(agent, isPending, { pause: stand.quiet })
    expect((await agent.again()).summary).toBe('ready')
    const all = [
      { model: 'cheap-2' },
      { max_tokens: 900 },
      { parameters: { temperature: 0 } },
      { system_prompt: 'In short, please.' },
    ]
    for (const changed of all) {
      const summary = { upstream: 'cheap', model: 'cheap-1', ...changed }
      const { url } = await stand.replica({ profile: { ...stand.profile, summary } })
      expect([changed, (await agent.again({ url })).summary]).toEqual([changed, 'pending'])
      await stand.quiet()
    }
    expect((await agent.again()).summary).toBe('ready')
  })

  test('templates and parameters of the profile are sent, and the limit is the one that the client itself states', async () => {
    const templates = {
      system_prompt: 'Fasse zusammen.',
      user_prompt: 'Bisher {previous_summary}: {messages}',
    }
    const said = { ...templates, parameters: { temperature: 0.1 } }
    await using stand = await summaryStand({
      profile: { summary: { max_tokens: 700, reasoning_tokens: 2000, ...said } },
    })
    const agent = stand.agent({ ...long, more: { max_completion_tokens: 500 } })
    await turnsUntil(agent, isPending)
    await stand.quiet()
    const [call] = stand.model.calls
    expect(call?.body).toMatchObject({ model: 'cheap-1', temperature: 0.1, max_completion_tokens: 2700 })
    expect(call?.body).not.toHaveProperty('max_tokens')
    expect(JSON.stringify(call?.body)).toMatch(/"Fasse zusammen\..*"Bisher \(none\): <messages-/)
  })
})

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
    const due = await turnWhere(agent, isCompacted)
    expect(summariesIn(due)).toEqual([expect.stringContaining('BLD-7001')])
  })

  // A form that the client wants its own answer in would be the summary's, too.
  test.each([
    ['the provider states nothing of a cache', { statesUsage: false }, {}],
    ['the model answers in a form', {}, { response_format: { type: 'json_object' } }],
    ['the model must call a tool', {}, { tool_choice: 'required' }],
  ])('is asked for with a transcript where %s', async (...[, options, more]) => {
    const { stand, agent, asked } = await ownModelStand(options, undefined, more)
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
