import { expect, onTestFinished, test } from 'vitest'
import { isJsonObject } from '../../../src/conversation/json-value.ts'
import { fakeUpstream, json } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'

// A client sent the result of a search for tools twice. Both name tools that hold for all that follows, so both were said again
// behind a fold, each with its call: the same call stood there twice, which the client had not written.
test('a call whose result stands there twice is said again once', async () => {
  await using upstream = await fakeUpstream(
    json({ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Yes.' }], usage: {} }),
  )
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    profile: { window: { tokens: 3_000 } },
  })
  onTestFinished(() => foldgate.close())
  const found = {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        content: [{ type: 'tool_reference', tool_name: 'read' }],
      },
    ],
  }
  const long = 'the quick brown fox jumps over the dog '.repeat(40)
  const talk = Array.from({ length: 8 }, (_, turn) => [
    { role: 'assistant', content: `Answer ${turn}: ${long}` },
    { role: 'user', content: `Question ${turn}: ${long}` },
  ])
  const messages = [
    { role: 'user', content: 'Which tools are there?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'search', input: {} }] },
    found,
    found,
    ...talk.flat(),
  ]
  const response = await fetch(`${foldgate.url}/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', max_tokens: 100, messages }),
  })
  expect(response.headers.get('x-foldgate-action')).toBe('compacted')
  const sent: unknown = JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '')
  const text = JSON.stringify(isJsonObject(sent) ? sent['messages'] : null)
  expect(text.match(/"type":"tool_use"/g)).toHaveLength(1)
  expect(text.match(/"type":"tool_result"/g)).toHaveLength(1)
})
