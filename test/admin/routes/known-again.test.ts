import { expect, test } from 'vitest'
import { z } from 'zod'
import { adminStand, type AdminStand } from '../admin-stand.ts'

const listSchema = z.object({
  conversations: z.array(
    z.looseObject({
      id: z.string(),
      client: z.string().nullable(),
      dialect: z.string(),
      opening: z.unknown(),
    }),
  ),
  unread: z.array(z.unknown()),
})

const detailSchema = z.looseObject({
  around: z.object({ tools: z.object({ bytes: z.number() }) }),
  messages: z.array(z.looseObject({ receivedText: z.string().nullable(), calls: z.array(z.unknown()) })),
})

const call = { path: 'src/PLANTED.ts' }
const readFile = { name: 'read_file', arguments: JSON.stringify(call) }
const user = (content: unknown) => ({ role: 'user', content })
const said = (text: string) => ({ type: 'text', text })

/** A request as each API has it, as clients send it: what they say of themselves stands before the user's words. */
const requests = [
  {
    path: '/chat/completions',
    agent: 'my-agent/3.1',
    body: {
      messages: [
        user('<environment_details>PLANTED</environment_details>\n\nPLANTED: mend\nthe build'),
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: readFile }] },
        { role: 'tool', tool_call_id: 'c', content: 'PLANTED result' },
      ],
      tools: [{ type: 'function', function: { name: 'read_file', parameters: { type: 'object' } } }],
    },
  },
  {
    path: '/responses',
    agent: 'codex_exec/0.169.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.169.0)',
    body: {
      instructions: 'PLANTED instructions',
      store: false,
      input: [
        '# Rules of this folder\n\n<INSTRUCTIONS>\nPLANTED\n</INSTRUCTIONS>',
        '<environment_context>\n<cwd>/srv/PLANTED</cwd>\n</environment_context>',
        'PLANTED: name the release',
      ].map((text) => ({ type: 'message', ...user([{ type: 'input_text', text }]) })),
    },
  },
  {
    path: '/messages',
    agent: 'claude-cli/2.1.332 (external, cli)',
    body: {
      max_tokens: 100,
      system: [said('PLANTED environment\nWorking directory: /home/PLANTED/shop\nToday: now')],
      messages: [
        user([
          said('<system-reminder>\nPLANTED\n</system-reminder>'),
          said(`PLANTED: ${'a very long task, '.repeat(30)}`),
        ]),
      ],
    },
  },
] as const

async function post(at: AdminStand, path: string, agent: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer key', 'user-agent': agent }
  const text = JSON.stringify({ model: 'test-model', ...body })
  await (await fetch(`${at.url}${path}`, { method: 'POST', headers, body: text })).text()
}

async function sendAll(at: AdminStand): Promise<void> {
  for (const { path, agent, body } of requests) await post(at, path, agent, body)
}

test('a conversation of each API is known again by the first words of its task, its folder and its client', async () => {
  await using at = await adminStand({ admin: { show_content: true } })
  await sendAll(at)
  await post(at, '/responses', 'x'.repeat(4_000), { previous_response_id: 'r', input: 'PLANTED' })
  const { conversations, unread } = listSchema.parse(JSON.parse((await at.ask('/conversations')).text))
  const told = new Map(conversations.map(({ dialect, client, opening }) => [dialect, [client, opening]]))
  const chatted = { words: 'PLANTED: mend the build', folder: null }
  expect(told.get('chat-completions')).toEqual(['my-agent/3.1', chatted])
  const responded = { words: 'PLANTED: name the release', folder: '/srv/PLANTED' }
  expect(told.get('responses')).toEqual([requests[1].agent, responded])
  const [client, opening] = told.get('messages') ?? []
  expect(client).toBe('claude-cli/2.1.332 (external, cli)')
  expect(opening).toMatchObject({
    words: expect.stringMatching(/^PLANTED: a very long task,.{20,80}…$/),
    folder: '/home/PLANTED/shop',
  })
  // Whatever a client calls itself, a row of it stays small.
  expect(unread).toMatchObject([{ client: 'x'.repeat(100), reason: 'stateful' }])

  const chat = conversations.find(({ dialect }) => dialect === 'chat-completions')?.id ?? ''
  const { around, messages } = detailSchema.parse(JSON.parse((await at.ask(`/conversations/${chat}`)).text))
  expect(around.tools.bytes).toBe(JSON.stringify(requests[0].body.tools).length)
  const ends = messages.map(({ receivedText }) => receivedText?.slice(-14))
  expect(ends).toEqual(['mend\nthe build', '', 'PLANTED result'])
  expect(messages[1]?.calls).toEqual([{ name: 'read_file', argumentsText: JSON.stringify(call) }])
})

test('nothing of that is told without admin.show_content, but for the client', async () => {
  await using at = await adminStand()
  await sendAll(at)
  const { text } = await at.ask('/conversations')
  const { conversations } = listSchema.parse(JSON.parse(text))
  expect(conversations.map(({ opening }) => opening)).toEqual([null, null, null])
  expect(text).toContain('claude-cli/2.1.332')
  const pages = await Promise.all(
    ['/', ...conversations.map(({ id }) => `/conversations/${id}`)].map((path) =>
      at.ask(path, { headers: { accept: 'text/html' } }),
    ),
  )
  for (const page of pages) expect(page.text).not.toContain('PLANTED')
  expect(text).not.toContain('PLANTED')
  expect(pages[0]?.text).toContain('Claude Code 2.1.332')
})
