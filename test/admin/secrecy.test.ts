import { expect, test } from 'vitest'
import { memoryStore } from './memory.ts'
import { postChat, chatOf } from '../support/post-chat.ts'
import { longRun } from '../support/conversations.ts'
import { completion, json, overflow, type Script } from '../support/fake-upstream.ts'
import { listenTo } from '../support/raw-client.ts'
import { adminStand, conversationOf, type AdminStand } from './admin-stand.ts'

const readFile = { name: 'read_file', arguments: '{"path":"PLANTED-PATH"}' }

/** Some of each: texts of every role, arguments, results, names of users, unknown fields. */
const messages = [
  { role: 'system', content: 'PLANTED-SYSTEM' },
  ...longRun(10, 1),
  { role: 'user', content: 'PLANTED-USER', name: 'PLANTED-NAME' },
  {
    role: 'assistant',
    content: 'PLANTED-ASSISTANT',
    reasoning_content: 'PLANTED-REASONING',
    tool_calls: [{ id: 'PLANTED-CALL', type: 'function', function: readFile }],
  },
  { role: 'tool', tool_call_id: 'PLANTED-CALL', content: 'PLANTED-RESULT '.repeat(500) },
  { role: 'user', content: [{ type: 'text', text: 'PLANTED-PART' }], metadata: { key: 'PLANTED-FIELD' } },
]

const headers = {
  authorization: 'Bearer PLANTED-KEY',
  'x-api-key': 'PLANTED-API-KEY',
  cookie: 'session=PLANTED-COOKIE',
  'openai-organization': 'PLANTED-ORGANIZATION',
}

const scripts: readonly (readonly [string, Script])[] = [
  ['answered', completion('PLANTED-ANSWER')],
  ['refused as too long', overflow(3_000)],
  ['refused with its own text', json({ error: { message: 'PLANTED-REFUSAL', type: 'PLANTED-TYPE' } }, 400)],
  ['refused for the key', json({ error: { message: 'Incorrect API key: PLANTED-KEY' } }, 401)],
]

async function everythingToSee(at: AdminStand, id: string, authorization: string): Promise<string> {
  const paths = ['/', '/metrics', '/models', '/events?limit=1000', '/conversations', `/conversations/${id}`]
  const answers = await Promise.all(
    paths.flatMap((path) =>
      ['application/json', 'text/html'].map((accept) => at.ask(path, { headers: { authorization, accept } })),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  return answers.map(({ text }) => text).join('\n')
}

test.each(scripts)('no content and no credential is told of a request that is %s', async (_, script) => {
  const store = memoryStore()
  await using at = await adminStand({
    store,
    script,
    token: 'PLANTED-TOKEN',
    profile: { window: { tokens: 5_000, output_reserve: 500 } },
  })
  const authorization = 'Bearer PLANTED-TOKEN'
  const streams = await Promise.all(
    ['/events', '/changes'].map((path) => listenTo(at.origin + path, { authorization })),
  )
  const query = '?key=PLANTED-QUERY'
  const reply = await postChat(at.url, chatOf(messages, { user: 'PLANTED-END-USER' }), headers)
  const id = conversationOf(reply)
  await fetch(`${at.url}/models${query}`, { headers })
  await at.ask('/nothing', { headers: { authorization: 'Bearer PLANTED-WRONG' } })
  await at.ask('/explain', {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify(chatOf(messages)).replace('"messages"', '"PLANTED-KEY-OF-BODY"'),
  })
  await expect.poll(() => streams[0]?.events.length).toBeGreaterThan(0)
  await expect
    .poll(async () => (await store.readRows('usage', { from: 'oldest', beyond: null, limit: 10 })).length)
    .toBe(1)

  const seen = await everythingToSee(at, id, authorization)
  expect(seen).toContain(id)
  // What a tool is called is no content.
  expect(seen).toContain('read_file')
  const rows = await Promise.all(
    (['events', 'usage', 'totals'] as const).map((name) =>
      store.readRows(name, { from: 'oldest', beyond: null, limit: 1_000 }),
    ),
  )
  const { models } = JSON.parse((await at.ask('/models', { headers: { authorization } })).text)
  for (const model of models)
    await at.ask(`/models/${model.id}`, { method: 'DELETE', headers: { authorization } })
  const told = [seen, ...streams.map((stream) => stream.text()), JSON.stringify(rows), ...at.foldgate.log]
  const encoded = Buffer.from('PLANTED-KEY').toString('base64').slice(0, 12)
  for (const text of told) for (const planted of ['PLANTED', encoded]) expect(text).not.toContain(planted)
  for (const stream of streams) stream.leave()
})
