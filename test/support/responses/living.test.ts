import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { validConversation } from '../conversations.ts'
import { chatOf, toolsOf } from './items.ts'
import { live, readReply } from './living.ts'
import { startResponsesUpstream } from './responses-upstream.ts'
import type { ScriptedItem } from './script.ts'
import { propertyRuns } from '../property-runs.ts'

const tools = toolsOf([{ type: 'function', function: { name: 'search', parameters: {} } }])
const small = { turnsMax: 3, roundsMax: 2, textCharactersMax: 200 }

test('any chat is lived through: nothing is refused, and all reasoning is good to the end', async () => {
  let script: readonly ScriptedItem[] = []
  const upstream = await startResponsesUpstream({
    windowTokens: 1_000_000,
    outputReserveChecked: true,
    count: (text) => text.length,
    reply: () => ({ output: script }),
  })
  const way = fc.record({
    messages: validConversation(small),
    system: fc.constantFrom('instructions' as const, 'developer' as const),
    stream: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(way, async ({ messages, system, stream }) => {
      upstream.forget()
      const { instructions, steps } = chatOf(messages, { system })
      const around = JSON.stringify({ model: 'm', store: false, stream, instructions, tools }).slice(0, -1)
      const removed: unknown[] = []
      const lived = await live({
        steps,
        ask: async ({ items, script: wanted }) => {
          script = wanted
          const body = `${around},"input":[${items.map(({ text }) => text).join(', ')}]}`
          const response = await fetch(`${upstream.url}/responses`, { method: 'POST', body })
          const reply = readReply(await response.text())
          removed.push(...(reply?.removed ?? []))
          return reply?.items ?? null
        },
      })
      const history = lived.map(({ text }) => text)
      const { requests } = upstream
      expect(requests.map(({ rejected }) => rejected)).toEqual(requests.map(() => null))
      expect(removed).toEqual([])
      const sealed = history.filter((item) => item.includes('"encrypted_content":"gAAAAAB'))
      expect(sealed).toHaveLength(requests.length)
      // What was sent once is sent again in the same bytes.
      for (const { rawItems } of requests) expect(history.slice(0, rawItems.length)).toEqual(rawItems)
    }),
    { numRuns: propertyRuns(20) },
  )
  await upstream.close()
})

test('without a reply the client goes on with what it was told, and with neither ids nor reasoning', async () => {
  expect(readReply('{"error":{"message":"No."}}')).toBeNull()
  expect(
    readReply('event: response.failed\ndata: {"response":{"status":"failed","output":[]}}\n\n'),
  ).toBeNull()
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
  const { steps } = chatOf(
    [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: null, tool_calls: [call] },
    ],
    { system: 'developer' },
  )
  const history = await live({ steps, ask: async () => null })
  const told = '{"type":"function_call","call_id":"a","name":"look","arguments":"{}"}'
  expect(history.slice(1)).toEqual([{ text: told, reply: null }])
})
