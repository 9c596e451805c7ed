import { expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../../src/conversation/json-value.ts'
import { openStand, post, readTool, roundsOf, user } from './stand.ts'

// A browser's tool answers with what the page says and a picture of it. The text alone was too long, and the picture went as
// well; of a search that came as twenty blocks nothing stood there but that it had been left out, beside an empty window.
test('a picture stays behind a long text in the newest result', async () => {
  const picture = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
  }
  const page = { type: 'text', text: 'the quick brown fox jumps over the dog '.repeat(1_500) }
  const shown = await newestOf([page, picture])
  expect(shown.at(-1)).toEqual(picture)
  expect(JSON.stringify(shown)).toMatch(/\[clipped: \d+ tokens in all\]/)
  expect(JSON.stringify(shown)).not.toContain('[media left out]')
})

test('of results that do not all fit the last ones stay, and fill the room', async () => {
  const found = Array.from({ length: 20 }, (_, number) => ({
    type: 'search_result',
    source: `https://pages.example/${number}`,
    title: `Page ${number}`,
    content: [{ type: 'text', text: 'the quick brown fox jumps over the dog '.repeat(60) }],
  }))
  const [mark, ...shown] = await newestOf(found)
  expect(mark).toEqual({ type: 'text', text: '[media left out]' })
  expect(shown.length).toBeGreaterThan(4)
  expect(shown).toEqual(found.slice(-shown.length))
})

/** What reaches the upstream of such a result, at the end of a conversation. */
async function newestOf(content: readonly JsonObject[]): Promise<readonly unknown[]> {
  const stand = await openStand({
    windowTokens: 8_000,
    profile: {},
    reply: () => ({ content: [{ type: 'text', text: 'Yes.' }] }),
  })
  const call = { type: 'tool_use', id: 'toolu_newest', name: 'read', input: { path: '/page' } }
  const messages = [
    user('What does the page say?'),
    ...roundsOf(6).slice(1),
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_newest', content }] },
  ]
  expect((await post(stand, { messages, tools: [readTool], max_tokens: 100 })).status).toBe(200)
  const newest: unknown = JSON.parse(stand.upstream.requests.at(-1)?.rawMessages.at(-1) ?? '{}')
  const [result]: readonly unknown[] =
    isJsonObject(newest) && Array.isArray(newest['content']) ? newest['content'] : []
  return isJsonObject(result) && Array.isArray(result['content']) ? result['content'] : []
}
