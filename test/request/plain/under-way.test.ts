import { expect, test } from 'vitest'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'
import { longRun } from '../../support/conversations.ts'
import { events, type Script } from '../../support/fake-upstream.ts'
import { answerOf, apis, ask, isPassed, plainStand, warmUp } from './plain-stand.ts'

const [chat] = apis
const run = longRun(14, 3)
const bodyOf = (count: number): string =>
  JSON.stringify({ model: 'test-model', messages: run.slice(0, count) })

const withSystem = (content: string): string =>
  JSON.stringify({ model: 'test-model', messages: [{ role: 'system', content }, ...run.slice(1, 12)] })

// What another process's operator had asked for became known only beside the first bytes: the compacted ones went out under the same
// idempotency key, and where an upstream takes one request at a time they waited for an answer that nobody read.
test('bytes that are not wanted any more are given up before others are sent, under another key', async () => {
  const store = openMemoryStore({ bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })
  const settings = { upstreams: { default: { concurrency: 1 } } }
  await using one = await plainStand(answerOf(chat), { store, detailed: null, settings })
  await using other = await plainStand(answerOf(chat), { store, detailed: null })
  const first = await ask(one, chat.path, bodyOf(run.length - 4))
  for (let turn = 0; turn < 3; turn += 1) await ask(one, chat.path, chat.body(`Ask ${turn}.`))
  const id = String(first.headers['x-foldgate-conversation'])
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  expect((await other.admin(`/conversations/${id}/compact`, { method: 'POST' })).status).toBe(202)

  const before = one.upstream.requests.length
  const body = bodyOf(run.length - 2)
  const next = await ask(one, chat.path, body, { 'idempotency-key': 'key-1' })
  expect(next.status).toBe(200)
  expect(next.headers['x-foldgate-action']).toBe('compacted')
  const sent = one.upstream.requests.slice(before)
  expect(sent).toHaveLength(2)
  expect(sent.at(-1)?.body.length).toBeLessThan(body.length)
  expect(next.headers['x-foldgate-attempts']).toBe(String(sent.length))
  const keys = sent.map(({ headers }) => headers['idempotency-key'])
  expect(new Set(keys).size).toBe(sent.length)
})

// The system text was counted among what a compacted conversation has at least, and no key stands for it.
test('a conversation goes on in its compaction, however short its system text has become', async () => {
  await using at = await plainStand(answerOf(chat))
  await warmUp((turn) => ask(at, chat.path, chat.body(`Ask ${turn}.`)))
  const long = withSystem('A rule of the house. '.repeat(4_000))
  const forced = await ask(at, chat.path, long, { 'x-foldgate-compact': 'force' })
  expect(forced.headers['x-foldgate-action']).toBe('compacted')
  const next = await ask(at, chat.path, withSystem('A rule.'))
  expect(next.headers['x-foldgate-action']).toBe('compacted')
})

// Its memory was looked at when the request was sent, and had been filled by others when the answer came.
test('a stream that begins with the word that a shared memory is full is tried again', async () => {
  const full = { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } }
  let isFull = false
  const waiting: (() => void)[] = []
  const script: Script = async (received, ...connection) => {
    const text = received.body.toString()
    if (text.includes('long one')) await new Promise<void>((resolve) => waiting.push(resolve))
    if (isFull && text.includes('Ask at last.')) {
      isFull = false
      return events([`data: ${JSON.stringify(full)}\n\n`])(received, ...connection)
    }
    return answerOf(chat)(received, ...connection)
  }
  await using at = await plainStand(script, { profile: { window: { tokens: 8_000 } } })
  await warmUp((turn) => ask(at, chat.path, chat.body(`Ask ${turn}.`, { stream: true })))
  const others = [1, 2, 3].map((each) =>
    ask(at, chat.path, chat.body(`A long one. ${'and more words '.repeat(1_000)} ${each}`)),
  )
  await expect.poll(() => waiting.length).toBe(3)
  isFull = true
  const asking = ask(at, chat.path, chat.body('Ask at last.', { stream: true }))
  await expect.poll(() => isFull).toBe(false)
  for (const go of waiting) go()
  const answer = await asking
  expect(answer.body.toString()).not.toContain('exceeded')
  expect(answer.headers['x-foldgate-attempts']).toBe('2')
  for (const each of await Promise.all(others)) expect(each.status).toBe(200)
  expect(isPassed(await ask(at, chat.path, chat.body('Ask again.', { stream: true })))).toBe(true)
})
