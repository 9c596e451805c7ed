import { describe, expect, test } from 'vitest'
import { createFailures } from '../../../src/telemetry/failures.ts'
import { createRequestedCompactions } from '../../../src/pipeline/records/requested-compactions.ts'
import { createStoreGuard } from '../../../src/storage/store-guard.ts'
import { openMemoryStore } from '../../../src/storage/memory-store.ts'
import type { Store } from '../../../src/storage/store.ts'
import { longRun } from '../../support/conversations.ts'
import { completion } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { reportStand, type ReportStand } from '../../telemetry/report/report-stand.ts'

const newStore = (): Store => openMemoryStore({ bytesMax: 16_000_000, lifetimeMs: 0 })
const conversation = 'abcdefgh12345678'

const wishesOn = (store: Store) =>
  createRequestedCompactions(store, createStoreGuard(createFailures(() => {})))

const failing = async () => Promise.reject(new Error('the store is broken'))

describe('a compaction that was asked for', () => {
  test('is taken once, however often it was asked for, and for its own conversation; asked for again it is another', async () => {
    const wishes = wishesOn(newStore())
    expect(await wishes.take(conversation)).toBe(false)
    await wishes.ask(conversation)
    await wishes.ask(conversation)
    expect(await wishes.take('another-one')).toBe(false)
    expect(await wishes.take(conversation)).toBe(true)
    expect(await wishes.take(conversation)).toBe(false)
    await wishes.ask(conversation)
    expect(await wishes.take(conversation)).toBe(true)
  })

  // The one that had been asked first looked at its own word alone, which another had done meanwhile.
  test('asked of another replica, after that one has done the first, is done by the first one asked', async () => {
    const store = newStore()
    const [one, other] = [wishesOn(store), wishesOn(store)]
    await one.ask(conversation)
    expect(await other.take(conversation)).toBe(true)
    await other.ask(conversation)
    expect(await one.take(conversation)).toBe(true)
    expect(await other.take(conversation)).toBe(false)
  })

  test('is taken by one where all take it at the same time', async () => {
    const store = newStore()
    const replicas = Array.from({ length: 5 }, () => wishesOn(store))
    await replicas[0]?.ask(conversation)
    const taken = await Promise.all(replicas.map(async (each) => each.take(conversation)))
    expect(taken.filter((isTaken) => isTaken)).toHaveLength(1)
  })

  test('with a store that fails is taken by whom it was asked of', async () => {
    const store = { ...newStore(), getFirst: failing, put: failing, putIfAbsent: failing }
    const [asked, other] = [wishesOn(store), wishesOn(store)]
    await asked.ask(conversation)
    expect(await other.take(conversation)).toBe(false)
    expect(await asked.take(conversation)).toBe(true)
    expect(await asked.take(conversation)).toBe(false)
  })
})

const refusing = async () => Promise.reject(new Error('the disk is full'))

// Of a second one, asked for while nothing could be written, the first stood in the way for as long as records are kept.
test('a store that cannot be written to keeps no later wish from being done', async () => {
  let isFull = false
  const inner = newStore()
  const wishes = wishesOn({
    ...inner,
    put: (entries) => (isFull ? refusing() : inner.put(entries)),
    putIfAbsent: (key, value, group) => (isFull ? refusing() : inner.putIfAbsent(key, value, group)),
  })
  await wishes.ask(conversation)
  expect(await wishes.take(conversation)).toBe(true)
  isFull = true
  await wishes.ask(conversation)
  expect(await wishes.take(conversation)).toBe(true)
  expect(await wishes.take(conversation)).toBe(false)
  await wishes.ask(conversation)
  wishes.forget(conversation)
  expect(await wishes.take(conversation)).toBe(false)
})

const run = longRun(8, 3)
const body = chatOf(run, { model: 'gpt-4o' })
const options = { profile: { window: { tokens: 16_000 } } }

async function askFor(at: ReportStand, id: string | null) {
  expect((await at.admin(`/conversations/${id}/compact`, { method: 'POST' })).status).toBe(202)
}

describe('POST /conversations/ID/compact', () => {
  test('makes the next request a compaction, and only that', async () => {
    await using at = await reportStand(completion('fine'), options)
    const first = await postChat(at.url, body)
    expect(first.action).toBe('relayed')
    await askFor(at, first.header('x-foldgate-conversation'))
    const second = await postChat(at.url, body)
    expect(second.action).toBe('compacted')
    await postChat(at.url, body)
    expect((await at.rows(3)).map(({ compaction }) => compaction)).toEqual([null, 'forced', null])
    expect((await at.events()).map(({ type, reason }) => [type, reason])).toEqual([
      ['compact-requested', 'operator'],
      ['compaction', 'forced'],
    ])
  })

  test('is not used up by requests that may not be rewritten', async () => {
    await using at = await reportStand(completion('fine'), options)
    const first = await postChat(at.url, body)
    await askFor(at, first.header('x-foldgate-conversation'))
    expect((await postChat(at.url, body, { 'x-foldgate-compact': 'off' })).action).toBe('relayed;reason=off')
    expect((await postChat(at.url, body, { 'x-foldgate-bypass': '1' })).action).toBe('bypassed')
    expect((await postChat(at.url, body)).action).toBe('compacted')
  })

  test('is not followed under a profile that only observes', async () => {
    await using at = await reportStand(completion('fine'), { profile: { ...options.profile, observe: true } })
    const first = await postChat(at.url, body)
    await askFor(at, first.header('x-foldgate-conversation'))
    const next = await postChat(at.url, body)
    expect(next.action).toBe('relayed;reason=observe')
    expect(next.header('x-foldgate-observed')).toMatch(/^relayed/)
    expect(at.upstream.requests.at(-1)?.body.toString()).toBe(JSON.stringify(body))
  })
})
