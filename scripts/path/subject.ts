import { createServer } from 'node:http'
import { Pool } from 'undici'
import { startFoldgate } from '../../test/support/foldgate.ts'

export type PathSubject = {
  /** Requests to look at, each made in a conversation of its own; the others of its kind have been made. */
  readonly requests: Readonly<Record<string, () => Promise<void>>>
  readonly close: () => Promise<void>
}

/** A Foldgate before a server that answers everything, and a client. */
export async function openSubject(): Promise<PathSubject> {
  const upstream = await startUpstream()
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    profile: { window: { tokens: WINDOW_TOKENS } },
  })
  const { origin, pathname } = new URL(foldgate.url)
  const pool = new Pool(origin, { connections: 1 })

  /** What was done with the request, as its answer's header says. */
  async function ask(messages: readonly object[]): Promise<string> {
    const { statusCode, headers, body } = await pool.request({
      path: `${pathname}/chat/completions`,
      method: 'POST',
      headers: { authorization: 'Bearer client', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages, tools }),
    })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`The request was answered with ${statusCode}: ${text}`)
    return String(headers['x-foldgate-action'])
  }

  async function expectAction(action: string, messages: readonly object[]): Promise<void> {
    const done = await ask(messages)
    if (done !== action) throw new Error(`The request was ${done}, where it was to be ${action}.`)
  }

  /** Makes the requests of a conversation until one is compacted; how many rounds that one has. */
  async function untilCompacted(name: string): Promise<number> {
    let rounds = 1
    while ((await ask(agent(name, rounds))) !== 'compacted') rounds += 1
    return rounds
  }

  let rounds = 0
  for (const name of ['one', 'two', 'six']) {
    await ask(small(name))
    rounds = await untilCompacted(name)
    await expectAction('compacted', agent(name, rounds + 1))
  }
  await ask(small('low'))
  for (let before = 1; before < rounds; before += 1) await expectAction('relayed', agent('big', before))
  return {
    requests: {
      'small request': () =>
        expectAction('relayed', [...small('low'), answer, { role: 'user', content: 'And then?' }]),
      'compacted request': () => expectAction('compacted', agent('big', rounds)),
      'request in a compaction': () => expectAction('compacted', agent('big', rounds + 1)),
    },
    close: async () => {
      await pool.close()
      await foldgate.close()
      upstream.close()
    },
  }
}

// --- internal ---

const WINDOW_TOKENS = 16_384

/** A server that answers every request with the same few words. */
async function startUpstream(): Promise<{ readonly url: string; readonly close: () => void }> {
  const completion = JSON.stringify({
    id: 'chatcmpl-path',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4o',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }],
  })
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(completion)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : address
  return { url: `http://127.0.0.1:${port}/v1`, close: () => void server.close() }
}

const tools = [
  {
    type: 'function',
    function: {
      name: 'read_file',
      description: 'Reads a file.',
      parameters: { type: 'object', properties: { path: { type: 'string' } } },
    },
  },
]

const answer = { role: 'assistant', content: 'It is done.' }

function small(name: string): object[] {
  return [
    { role: 'system', content: 'You are a helpful agent.' },
    { role: 'user', content: `Say what ${name} is.` },
  ]
}

/** A conversation of so many tool rounds. */
function agent(name: string, rounds: number): object[] {
  const pairs = Array.from({ length: rounds }, (_, index) => [
    {
      role: 'assistant',
      content: `I read part ${index} of ${name}.`,
      tool_calls: [
        {
          id: `call_${name}_${index}`,
          type: 'function',
          function: { name: 'read_file', arguments: `{"path":"src/${name}/part-${index}.ts"}` },
        },
      ],
    },
    { role: 'tool', tool_call_id: `call_${name}_${index}`, content: fileOf(name, index) },
  ])
  return [...small(name), ...pairs.flat()]
}

function fileOf(name: string, index: number): string {
  const line = (at: number) => `export const ${name}${index}x${at} = compute(${at * index}, '${name}/${at}')`
  return Array.from({ length: 24 }, (_, at) => line(at)).join('\n')
}
