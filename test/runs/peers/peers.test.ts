import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { closeAll, listen } from '../../support/free-port.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { everything, headAndSuffix, type Policy } from '../fidelity/policies.ts'
import { figuresOf } from '../fidelity/figures.ts'
import { madeRecording, rawMessage, type RawMessage } from '../harness/recordings.ts'
import { planWalks } from './plan.ts'
import { treeCpuMs } from './process-tree.ts'
import { openUpstream, reaches, walkAll } from './walk.ts'

const said = (message: object): RawMessage => rawMessage(JSON.stringify(message))

/** An agent that reads one file after the other, and names the first one at the end. */
const messages: readonly RawMessage[] = [
  said({ role: 'user', content: 'Read them all.' }),
  ...Array.from({ length: 6 }, (_, index) => [
    said({
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: `call_${index}`,
          type: 'function',
          function: { name: 'read', arguments: `{"path":"src/file_${index}.ts"}` },
        },
      ],
    }),
    said({ role: 'tool', tool_call_id: `call_${index}`, content: 'word '.repeat(300) }),
  ]).flat(),
  said({ role: 'assistant', content: 'The first was src/file_0.ts.' }),
]
const recording = madeRecording('made', 'reader', messages)
const room = { windowTokens: 2_000, reserveTokens: 500 }
const count = (words: string): number => Math.ceil(words.length / 4)

async function walkThrough(
  policy: Policy,
  change: ((body: Record<string, unknown>) => object) | null = null,
) {
  const upstream = await openUpstream(room, count)
  onTestFinished(() => upstream.close())
  const url = change === null ? upstream.url : await relay(upstream.url, change)
  const walks = planWalks([[recording]], 100)
  return walkAll(walks, { url, headers: {}, upstream, room, count, policy })
}

/** A gateway that changes bodies, and first asks for a summary of its own. */
async function relay(url: string, change: (body: Record<string, unknown>) => object): Promise<string> {
  const post = (body: object) =>
    fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(body) })
  const server = createServer(async (request, response) => {
    const body: unknown = JSON.parse(await text(request))
    if (!isObject(body)) throw new Error('no object')
    await (await post({ model: 'm', messages: [{ role: 'user', content: 'Sum up src/file_0.ts' }] })).text()
    const answer = await post(change(body))
    response.writeHead(answer.status).end(await answer.text())
  })
  const port = await listen(server)
  onTestFinished(() => closeAll(server))
  return `http://127.0.0.1:${port}/v1`
}

test('with nothing between, requests past the window come back as overflows, and nothing of them is in view', async () => {
  const outcome = await walkThrough(everything)
  expect(outcome.overflows).toBeGreaterThan(0)
  expect(outcome.answered + outcome.overflows).toBe(outcome.requests)
  expect(figuresOf(outcome.tally).recall).toBeLessThan(figuresOf(outcome.answeredTally).recall)
})

test('a window in the client overflows never, and has lost what it cut off', async () => {
  const outcome = await walkThrough(headAndSuffix)
  expect(outcome).toMatchObject({
    answered: outcome.requests,
    overflows: 0,
    broken: 0,
    others: 0,
    ownTokens: 0,
  })
  expect(figuresOf(outcome.tally).far).toBe(0)
})

test('a gateway that parts results from calls is seen, and so is what it asks for itself', async () => {
  const outcome = await walkThrough(headAndSuffix, (body) => {
    const sent = Array.isArray(body['messages']) ? body['messages'] : []
    return { ...body, messages: sent.filter((one) => !isObject(one) || one['role'] !== 'tool') }
  })
  expect(outcome.answered).toBe(1)
  expect(outcome.broken).toBe(outcome.requests - 1)
  expect(outcome.ownTokens).toBeGreaterThan(0)
})

test('an answer that is none of the upstream’s is counted as such, and told', async () => {
  const server = createServer((_, response) => response.writeHead(500).end('no luck'))
  const port = await listen(server)
  onTestFinished(() => closeAll(server))
  const upstream = await openUpstream(room, count)
  onTestFinished(() => upstream.close())
  const outcome = await walkAll(planWalks([[recording]], 2), {
    url: `http://127.0.0.1:${port}/v1`,
    headers: {},
    upstream,
    room,
    count,
    policy: everything,
  })
  expect(outcome).toMatchObject({ requests: 2, answered: 0, others: 2, firstFailure: '500 no luck' })
})

test('a recording that is broken by itself is walked up to there, and files take turns', () => {
  const broken = madeRecording('broken', 'reader', [...messages.slice(0, 2), ...messages.slice(3)])
  const walks = planWalks([[broken, recording], [recording]], 6)
  expect(walks.map((walk) => [walk.recording.file, walk.points.length])).toEqual([
    ['broken', 1],
    ['made', 5],
  ])
})

test.skipIf(process.platform !== 'linux')('the time of what a program has started is its time', async () => {
  const busy = 'const end = Date.now() + 400; while (Date.now() < end);'
  const parent = spawn('sh', ['-c', `"${process.execPath}" -e "${busy}"; sleep 30`], { detached: true })
  onTestFinished(() => void process.kill(-(parent.pid ?? 0), 'SIGKILL'))
  await once(parent, 'spawn')
  await expect.poll(() => treeCpuMs(parent.pid ?? 0), { timeout: 20_000 }).toBeGreaterThan(100)
})

test('a port at which somebody else answers is not taken for a gateway', async () => {
  const server = createServer((_, response) => response.end('somebody else'))
  const port = await listen(server)
  onTestFinished(() => closeAll(server))
  const upstream = await openUpstream(room, count)
  onTestFinished(() => upstream.close())
  expect(await reaches({ url: `http://127.0.0.1:${port}/v1`, headers: {} }, upstream)).toBe(false)
  expect(await reaches({ url: upstream.url, headers: {} }, upstream)).toBe(true)
})
