import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/conversation/json-value.ts'
import { openStand, post, user } from './stand.ts'

// If not even the frames of the newest round fit, all of it is folded, and what holds for all that follows is said again. It
// stood last, so that the request ended with a reply: newer models refuse that, and older ones go on with it.
describe('where everything is folded, a user’s message is the last, behind tools that are said again', () => {
  test.each([
    ['with room for a recap', 900],
    ['without', 70],
  ])('%s', async (_, windowTokens) => {
    const stand = await openStand({
      windowTokens,
      reply: () => ({ content: [{ type: 'text', text: 'Yes.' }] }),
    })
    const ids = Array.from({ length: 60 }, (_each, call) => `toolu_${call}`)
    const messages: readonly JsonObject[] = [
      user('Read every part.'),
      {
        role: 'assistant',
        content: [
          { type: 'mcp_tool_listing', server_name: 'parts', tools: [] },
          ...ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: { path: `parts/${id}.txt` } })),
        ],
      },
      { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'fox' })) },
    ]
    expect((await post(stand, { messages, max_tokens: 20 })).status).toBe(200)
    const [sent] = stand.upstream.requests
    expect(sent?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(sent?.rawMessages[1]).toContain('mcp_tool_listing')
  })
})
