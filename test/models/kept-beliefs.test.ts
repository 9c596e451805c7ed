import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadCounter } from '../../src/tokens/encodings.ts'
import type { Store } from '../../src/storage/store.ts'
import { longRun } from '../support/conversations.ts'
import {
  completion,
  fakeUpstream,
  json,
  overflow,
  windowedAt,
  type FakeUpstream,
  type Script,
} from '../support/fake-upstream.ts'
import { startFoldgate, type FoldgateOptions, type RunningFoldgate } from '../support/foldgate.ts'
import { closeAll, freePort, listen } from '../support/free-port.ts'
import { chatOf, postChat, rawMessages } from '../support/post-chat.ts'
import { isLearnt, sharedStore } from '../pipeline/records/shared-store.ts'
import { eventually } from '../support/eventually.ts'
import { putValue } from '../support/put-value.ts'

async function upstreamWith(script: Script): Promise<FakeUpstream> {
  const upstream = await fakeUpstream(script)
  onTestFinished(upstream.close)
  return upstream
}

async function foldgateAt(
  upstream: FakeUpstream,
  options: Omit<FoldgateOptions, 'upstream'>,
): Promise<RunningFoldgate> {
  const foldgate = await startFoldgate({ upstream: upstream.url, ...options })
  let closing: Promise<void> | null = null
  const close = () => (closing ??= foldgate.close())
  onTestFinished(close)
  return { ...foldgate, close }
}

/** How many requests a chat took at the upstream. */
async function requestsFor(
  upstream: FakeUpstream,
  { url }: RunningFoldgate,
  body: object,
  credential = 'one',
): Promise<number> {
  const before = upstream.requests.length
  const reply = await postChat(url, body, { authorization: `Bearer ${credential}` })
  expect(reply.status).toBe(200)
  return upstream.requests.length - before
}

const windowTokens = 4096
const windowed = windowedAt(windowTokens)

/** A conversation that overflows this window, other than those of other seeds. */
const tooLong = (seed: number) => chatOf(longRun(14, seed))

const small = chatOf([{ role: 'user', content: 'hello' }])

/** A store on which a process has learnt something of this upstream from one request, and is gone. */
async function learntFrom(upstream: FakeUpstream) {
  const shared = sharedStore()
  const first = await foldgateAt(upstream, { store: shared.store })
  expect(await requestsFor(upstream, first, tooLong(1))).toBeGreaterThan(1)
  await first.close()
  return shared
}

describe('a window that an overflow taught', () => {
  test('is known after a restart: nothing overflows again', async () => {
    const upstream = await upstreamWith(windowed)
    const { store } = await learntFrom(upstream)
    const second = await foldgateAt(upstream, { store })
    expect(await requestsFor(upstream, second, tooLong(2))).toBe(1)
    expect(upstream.requests.at(-1)?.body.length).toBeLessThanOrEqual(windowTokens * 4)
    const reply = await postChat(second.url, tooLong(3), { authorization: 'Bearer one' })
    expect(reply.header('x-foldgate-window')).toBe(`${windowTokens};source=learnt`)
    // But neither for another credential, nor for another model (P9).
    expect(await requestsFor(upstream, second, tooLong(2), 'two')).toBeGreaterThan(1)
    expect(await requestsFor(upstream, second, { ...tooLong(3), model: 'other-model' })).toBeGreaterThan(1)
  })

  // A server of 200,000 tokens came after one of 32,000 under the same model's name: conversations were compacted for nothing.
  test('is not used at another address of the same upstream name', async () => {
    const before = await upstreamWith(windowed)
    const now = await upstreamWith(completion('fine'))
    const { store, learnt } = await learntFrom(before)
    const second = await foldgateAt(now, { store })
    const body = tooLong(2)
    const reply = await postChat(second.url, body, { authorization: 'Bearer one' })
    expect(reply.header('x-foldgate-window')).toBe('128000;source=default')
    expect(reply.action).toBe('relayed')
    expect(rawMessages(now.requests.at(-1))).toEqual(body.messages.map((message) => JSON.stringify(message)))
    await second.close()
    // Each keeps its own: back at the first one, nothing overflows.
    expect(learnt.size).toBe(2)
    const third = await foldgateAt(before, { store })
    expect(await requestsFor(before, third, tooLong(3))).toBe(1)
  })
})

const budgetTokens = 14_000
/** Each request is counted. */
const counted = {
  profile: {
    window: { tokens: 16_000, output_reserve: 16_000 - budgetTokens },
    trigger: 0.85,
    every: { turns: 1000, tool_calls: 0 },
  },
}

/** Counts half as many tokens again as we do, and refuses what exceeds its window by that. */
async function denseCounter(): Promise<Script> {
  const { count } = await loadCounter('o200k_base')
  return (received) => {
    const tokens = Math.round(rawMessages(received).reduce((sum, text) => sum + count(text), 0) * 1.5)
    const isTooLong = tokens > budgetTokens
    return isTooLong ? overflow(16_000, tokens + 2_000) : completion('fine', { prompt_tokens: tokens })
  }
}

test('how a provider counts is known after a restart: no prompt is believed to fit that does not', async () => {
  const upstream = await upstreamWith(await denseCounter())
  const { store } = sharedStore()
  const first = await foldgateAt(upstream, { store, ...counted })
  const whole = longRun(12, 5)
  for (const [point, { role }] of whole.entries()) {
    if (role !== 'assistant') continue
    await postChat(first.url, chatOf(whole.slice(0, point)), { authorization: 'Bearer one' })
  }
  await first.close()
  // Below the trigger by our count, beyond the window by the provider's.
  const dense = chatOf(longRun(13, 9))
  const untold = await foldgateAt(upstream, { store: sharedStore().store, ...counted })
  expect(await requestsFor(upstream, untold, dense)).toBeGreaterThan(1)
  const second = await foldgateAt(upstream, { store, ...counted })
  expect(await requestsFor(upstream, second, dense)).toBe(1)
})

describe('the store', () => {
  test('holds neither credentials nor models by name in its keys, and no text', async () => {
    const upstream = await upstreamWith(windowed)
    const { store, learnt, written } = sharedStore()
    const foldgate = await foldgateAt(upstream, { store })
    await requestsFor(upstream, foldgate, tooLong(1), 'PLANTED-SECRET')
    await foldgate.close()
    expect(learnt.size).toBe(1)
    expect([...learnt.keys()].join()).toMatch(/^model:[\w-]{43}$/)
    expect(written()).not.toContain('PLANTED-SECRET')
    expect([...learnt.values()].join()).not.toContain('test-model')
    expect([...learnt.values()].join().length).toBeLessThan(2048)
  })

  test('is neither read nor written where nothing new is learnt', async () => {
    const upstream = await upstreamWith(windowed)
    const { store, reads, writes } = sharedStore()
    const foldgate = await foldgateAt(upstream, { store })
    await requestsFor(upstream, foldgate, small)
    await eventually(() => expect(writes()).toBe(1))
    const readsBefore = reads()
    for (let more = 0; more < 3; more += 1) await requestsFor(upstream, foldgate, small)
    // What is to be written is written at the end.
    await foldgate.close()
    expect({ reads: reads(), writes: writes() }).toEqual({ reads: readsBefore, writes: 1 })
  })

  const damagedParts =
    '{"window":7,"placement":{"value":"sideways"},"ratio":{"value":{},"from":"answer","atMs":1}}'
  test.each(['{"window":', '[1]', damagedParts])('costs nothing with a damaged record: %s', async (text) => {
    const upstream = await upstreamWith(windowed)
    const { store, learnt } = await learntFrom(upstream)
    const [key = ''] = learnt.keys()
    await putValue(store, key, text)
    const second = await foldgateAt(upstream, { store })
    expect(await requestsFor(upstream, second, tooLong(2))).toBeGreaterThan(1)
    await second.close()
    // What was learnt anew has taken its place.
    const third = await foldgateAt(upstream, { store })
    expect(await requestsFor(upstream, third, tooLong(3))).toBe(1)
  })

  const failing = {
    fails: () => Promise.reject(new Error('the disk is gone')),
    hangs: () => new Promise<never>(() => {}),
  }
  test.each(['fails', 'hangs'] as const)('costs no request where it %s, nor the end', async (how) => {
    const upstream = await upstreamWith(windowed)
    const inner = sharedStore().store
    const store: Store = {
      ...inner,
      getFirst: (keys) => (keys.some(isLearnt) ? failing[how]() : inner.getFirst(keys)),
      put: (entries) => (entries.some(({ key }) => isLearnt(key)) ? failing[how]() : inner.put(entries)),
    }
    const foldgate = await foldgateAt(upstream, { store })
    expect(await requestsFor(upstream, foldgate, tooLong(1))).toBeGreaterThan(1)
    // What was learnt is known all the same, in this process.
    expect(await requestsFor(upstream, foldgate, tooLong(2))).toBe(1)
    await foldgate.close()
  })
})

/** What is on record after a request that was answered so. */
async function recordAfter(script: Script, status: number): Promise<string> {
  const upstream = await upstreamWith(script)
  const { store, learnt } = sharedStore()
  const foldgate = await foldgateAt(upstream, { store })
  expect((await postChat(foldgate.url, small)).status).toBe(status)
  await foldgate.close()
  return [...learnt.values()].join()
}

test('that a credential was accepted is on record once a chat completion was answered, and after no refusal', async () => {
  expect(await recordAfter(completion('fine'), 200)).toContain('"accepted":{"value":""')
  for (const status of [400, 401, 403, 429, 500]) {
    const refusal = json({ error: { message: 'no' } }, status)
    expect(await recordAfter(refusal, status)).not.toContain('accepted')
  }
})

/** A llama.cpp that was started with this context, on this port. */
async function llamaServer(port: number, contextTokens: number) {
  const server = createServer(({ url, method }, outgoing) => {
    const isProps = url?.startsWith('/props') === true
    const body = isProps
      ? { default_generation_settings: { n_ctx: contextTokens } }
      : { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] }
    outgoing.writeHead(isProps || method === 'POST' ? 200 : 404, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify(body))
  })
  await listen(server, port)
  return () => closeAll(server)
}

// With a larger context conversations went on being compacted under the small one until a minute was over, and what a
// compaction has taken out does not come back.
test('the first request that finds a server back, which was started anew, goes by its new window', async () => {
  const port = await freePort()
  const chat = { model: 'local', messages: [{ role: 'user', content: 'Hi' }] }
  let stop = await llamaServer(port, 8192)
  const foldgate = await startFoldgate({ upstream: `http://127.0.0.1:${port}/v1` })
  const windowNow = async () => (await postChat(foldgate.url, chat)).header('x-foldgate-window')
  try {
    expect(await windowNow()).toBe('8192;source=server')
    await stop()
    expect((await postChat(foldgate.url, chat)).status).toBe(502)
    stop = await llamaServer(port, 32_768)
    expect(await windowNow()).toBe('32768;source=server')
  } finally {
    await stop()
    await foldgate.close()
  }
})
