import { expect, test } from 'vitest'
import { startAsking } from './asking.ts'
import { readReply } from './living.ts'

const user = (text: string) => ({ role: 'user', content: text })
const hello = { messages: [user('hello')] }

const mark = { cache_control: { type: 'ephemeral' } }
const long = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const text = (said: string, more = {}) => ({ type: 'text', text: said, ...more })
const said = (...content: object[]) => ({ role: 'user', content })
const usageOf = async (asked: Promise<{ text: string }>) => {
  const usage = readReply((await asked).text)?.usage ?? {}
  return [usage['input_tokens'], usage['cache_read_input_tokens'], usage['cache_creation']]
}
const blocks = (many: number) => Array.from({ length: many }, (_, place) => text(`block ${place}`))
const written = (short: number, hour = 0) => ({
  ephemeral_5m_input_tokens: short,
  ephemeral_1h_input_tokens: hour,
})

test('the cache is written at marks and read at the longest entry before one, whatever becomes of the marks', async () => {
  const { ask } = await startAsking({ cache: { minimumTokens: 10 } })
  const system = [text('Be brief.', long)]
  const first = said(text('x'.repeat(96), mark))
  expect(await usageOf(ask({ system, messages: [first] }))).toEqual([3, 0, written(100, 13)])
  const grown = [said(text('x'.repeat(96))), { role: 'assistant', content: 'y' }, said(text('z', mark))]
  expect(await usageOf(ask({ system, messages: grown }))).toEqual([3, 113, written(10)])
  // Without a mark on them they are neither read nor written; the system prompt is.
  expect(await usageOf(ask({ system, messages: [user('x'.repeat(96))] }))).toEqual([103, 13, written(0)])
  // An earlier change leaves only what stands before it.
  expect(await usageOf(ask({ system, messages: [user('w'), ...grown.slice(1)] }))).toEqual([
    3,
    13,
    written(15),
  ])
  expect(await usageOf(ask({ system, messages: [first], tools: [] }, { 'x-api-key': 'other' }))).toEqual([
    3,
    0,
    written(100, 13),
  ])
})

test('the cache is looked for at most 20 blocks before a mark', async () => {
  for (const [more, read] of [
    [20, 104],
    [21, 0],
  ] as const) {
    const { ask } = await startAsking({ cache: { minimumTokens: 10 } })
    await ask({ messages: [said(text('x'.repeat(100), mark))] })
    const messages = [said(text('x'.repeat(100)), ...blocks(more - 1), text('last', mark))]
    expect((await usageOf(ask({ messages })))[1]).toBe(read)
  }
})

test('there are four marks, one in a result and one for the whole request among them, and the longer ones first', async () => {
  const { ask } = await startAsking()
  const result = { type: 'tool_result', tool_use_id: 'a', content: [text('seen', mark)] }
  const messages = [
    said(text('look', mark)),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
    said(result),
  ]
  const tools = [{ name: 'look', input_schema: {}, ...mark }]
  const system = [text('Be brief.', mark)]
  expect(await ask({ tools, system, messages })).toMatchObject({ status: 200 })
  expect((await ask({ tools, system, messages, ...mark })).error).toBe(
    'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  )
  expect((await ask({ system, messages: [said(text('look', long))] })).error).toContain(
    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
  )
})

test('the cache of a request with a mark for all of it is written at its end', async () => {
  const { ask } = await startAsking({ cache: { minimumTokens: 10 } })
  expect(await usageOf(ask({ ...hello, ...mark }))).toEqual([12, 0, written(0)])
  const messages = [user('hello, hello')]
  expect(await usageOf(ask({ messages, ...mark }))).toEqual([3, 0, written(16)])
})

test('the cache is not cut off by the line in which Claude Code says who pays', async () => {
  const { ask } = await startAsking({ cache: { minimumTokens: 10 } })
  const asked = (cch: string) =>
    ask({
      system: [text(`x-anthropic-billing-header: cc_version=2; cch=${cch};`), text('Be brief.', mark)],
      ...hello,
    })
  await asked('1')
  expect(await usageOf(asked('2'))).toEqual([12, 13, written(0)])
})
