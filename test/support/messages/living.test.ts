import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { validConversation } from '../conversations.ts'
import { diceOf } from '../responses/any-agent.ts'
import { behind, replyOf } from './any-agent.ts'
import { chatOf, toolsOf } from './chat.ts'
import { live, messageTexts, readReply, type LivedMessage } from './living.ts'
import { startMessagesUpstream } from './messages-upstream.ts'
import type { ScriptedBlock } from './script.ts'
import { propertyRuns } from '../property-runs.ts'

const small = { turnsMax: 3, roundsMax: 2, textCharactersMax: 200 }

/** An upstream that answers what it is told, and a client that asks it. */
async function open() {
  const told: { script: readonly ScriptedBlock[] } = { script: [] }
  const upstream = await startMessagesUpstream({
    windowTokens: 1_000_000,
    outputReserveChecked: true,
    count: (text) => text.length,
    reply: () => ({ content: told.script }),
  })
  async function ask(around: object, texts: readonly string[], script: readonly ScriptedBlock[]) {
    told.script = script
    const response = await fetch(`${upstream.url}/messages`, {
      method: 'POST',
      headers: { 'anthropic-version': '2023-06-01' },
      body: `${JSON.stringify({ model: 'm', max_tokens: 9, ...around }).slice(0, -1)},"messages":[${texts.join(', ')}]}`,
    })
    return readReply(await response.text())
  }
  return { upstream, ask }
}

test('any chat is lived through: nothing is refused, and all thinking is good to the end', async () => {
  const { upstream, ask } = await open()
  const tools = toolsOf([{ type: 'function', function: { name: 'search', parameters: {} } }])
  const way = fc.record({
    // A reply behind a reply is none that could be asked for.
    messages: validConversation(small).filter((messages) =>
      messages.every(({ role }, index) => role !== 'assistant' || messages[index - 1]?.role !== 'assistant'),
    ),
    ridesBehindResults: fc.boolean(),
    stream: fc.boolean(),
    writing: fc.record({ marksNewest: fc.boolean(), shortensTexts: fc.boolean() }),
  })
  await fc.assert(
    fc.asyncProperty(way, async ({ messages, ridesBehindResults, stream, writing }) => {
      upstream.forget()
      const { system, steps } = chatOf(messages, { ridesBehindResults })
      const around = { stream, ...(system?.trim() && { system }), tools }
      let thoughts = 0
      const lived = await live({
        steps,
        ask: async ({ messages: before, script }) => {
          if (before[0]?.role !== 'user') return null
          thoughts += 1
          return (await ask(around, messageTexts(before, writing), script))?.blocks ?? null
        },
      })
      const { requests } = upstream
      expect(requests.map(({ rejected }) => rejected)).toEqual(requests.map(() => null))
      expect(requests.map(({ transformations }) => transformations)).toEqual(requests.map(() => []))
      expect(
        lived.flatMap(({ blocks }) => blocks).filter((text) => text.includes('"signature"')),
      ).toHaveLength(thoughts)
    }),
    { numRuns: propertyRuns(20) },
  )
  await upstream.close()
})

test.each([1, 2, 3])('any agent lives on it as Claude Code does: seed %i', async (seed) => {
  const roll = diceOf(seed * 7_919)
  const { upstream, ask } = await open()
  const mark = { cache_control: { type: 'ephemeral' } }
  const around = {
    system: [
      { text: 'You are Careful.', type: 'text', ...mark },
      { text: 'Read. '.repeat(300), type: 'text', ...mark },
    ],
    tools: [{ name: 'read', input_schema: {} }],
  }
  const history: Omit<LivedMessage, 'reply'>[] = [
    { role: 'user', blocks: ['{"type":"text","text":"Begin."}'] },
  ]
  for (let round = 0; round < 20; round += 1) {
    const texts = messageTexts(history, { marksNewest: true, shortensTexts: true })
    const reply = await ask({ ...around, stream: roll(2) === 0 }, texts, replyOf(roll, round))
    expect(upstream.requests.at(-1)).toMatchObject({ rejected: null, transformations: [] })
    const blocks = reply?.blocks ?? []
    const followed = [{ role: 'assistant', blocks }, ...behind(blocks, roll, round)]
    for (const { role, blocks: each } of followed)
      history.push({ role, blocks: each.map((block) => JSON.stringify(block)) })
    if (round > 0) expect(reply?.usage['cache_read_input_tokens']).toBeGreaterThan(1800)
  }
  await upstream.close()
})

test('without a reply the client goes on with what it was told', async () => {
  expect(readReply('{"type":"error","error":{"message":"No."}}')).toBeNull()
  expect(readReply('event: message_start\ndata: {"type":"message_start","message":{}}\n\n')).toBeNull()
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
  const { steps } = chatOf([
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: 'Seen.' },
  ])
  const history = await live({ steps, ask: async () => null })
  expect(history.slice(1)).toEqual([
    {
      role: 'assistant',
      blocks: ['{"type":"tool_use","id":"toolu_000001","name":"look","input":{}}'],
      reply: null,
    },
    {
      role: 'user',
      blocks: ['{"type":"tool_result","tool_use_id":"toolu_000001","content":"Seen."}'],
      reply: null,
    },
  ])
})
