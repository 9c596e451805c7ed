import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { deleteConversation as deleting } from '../../src/admin/delete-conversation.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Agent, Turn } from '../pipeline/summaries/growing-agent.ts'
import { keptOpen, summaryStand, type SummaryStandOptions } from '../pipeline/summaries/summary-stand.ts'
import { completion } from '../support/fake-upstream.ts'
import { standWith } from '../support/stand.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { adminPlace, deleteConversation } from './ask-admin.ts'
import { groupedStore } from './memory.ts'

const id = 'abcdefgh-_012345'

/** A Foldgate whose summaries a stand-in writes, with an admin listener and a store that tells what it holds. */
async function adminStand(options: SummaryStandOptions = {}) {
  const store = groupedStore()
  const place = await adminPlace()
  const stand = await summaryStand({ store, flags: place.flags, windowTokens: 4_000, ...options })
  return { stand, store, origin: place.origin, [Symbol.asyncDispose]: () => stand[Symbol.asyncDispose]() }
}

/** The agent goes on until what is sent carries a summary. */
async function untilSummarised(agent: Agent, pause: () => Promise<unknown>): Promise<Turn> {
  for (let turns = 0; turns < 40; turns += 1) {
    const turn = await agent.turn()
    expect(turn.status).toBe(200)
    if (turn.received.join('').includes('<conversation-summary>')) return turn
    await pause()
  }
  throw new Error('no summary was sent')
}

const conversationOf = (turn: Turn): string => turn.header('x-foldgate-conversation') ?? ''

/** Deleting with these parts alone, and what was told of it. */
function forgetting(parts: Partial<Parameters<typeof deleting>[1]>) {
  const told: unknown[] = []
  const whole = {
    store: { name: 'memory:', deleteGroup: async () => 0 },
    requests: { forget: async () => false },
    activity: {
      forget: async () => false,
      failures: { note: (part: unknown) => void told.push(part) },
      signals: { emit: () => true },
    },
    archive: null,
    log: { info: (_: string, facts?: object) => void told.push(facts) },
    ...parts,
  }
  return { forget: () => deleting(id, whole), told }
}

describe('a conversation that was deleted', () => {
  test('leaves nothing in the store, and its next request is derived anew, as by a Foldgate that never saw it', async () => {
    // What answers taught of the upstream's count is no part of a conversation and stays: here they teach nothing, so
    // that both derive with the same numbers (P6).
    await using at = await adminStand({ statesUsage: false })
    const { stand, store } = at
    const agent = stand.agent()
    const before = await untilSummarised(agent, stand.model.quiet)
    await stand.model.quiet()
    const conversation = conversationOf(before)
    const held = await store.holds(conversation)
    for (const kind of ['compaction:', 'seen:', 'name:', 'ahead:', 'summary:', 'spent:'])
      expect(held.filter((line) => line.startsWith(kind))).not.toEqual([])
    expect((await agent.again()).received).toEqual(before.received)

    const answer = await deleteConversation(at.origin, conversation)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await store.holds(conversation)).toEqual([])
    expect(stand.foldgate.log.filter((line) => line.includes('a conversation was deleted'))).toHaveLength(1)

    const after = await agent.again()
    expect(after.status).toBe(200)
    expect(after.received).not.toEqual(before.received)
    expect(after.received.join('')).not.toContain('<conversation-summary>')
    const unknowing = await stand.replica({ store: groupedStore(), flags: {} })
    expect(after.received).toEqual((await agent.again({ url: unknowing.url })).received)
    expect(conversationOf(after)).not.toBe(conversation)
    // Once more there is nothing left of it.
    const again = await deleteConversation(at.origin, conversation)
    expect([again.status, again.code]).toEqual([404, 'unknown_conversation'])
  })

  test('takes nothing from another conversation, nor from the same one of another scope', async () => {
    await using at = await adminStand()
    const { stand, store } = at
    const mine = stand.agent()
    const theirs = stand.agent({ authorization: 'Bearer another-key' })
    const other = stand.agent({ task: 'Something else. Start at src/f0.ts.' })
    const before = []
    for (const agent of [mine, theirs, other]) before.push(await untilSummarised(agent, stand.model.quiet))
    await stand.model.quiet()
    const ids = before.map(conversationOf)
    expect(new Set(ids).size).toBe(3)
    const held = await Promise.all(ids.map(store.holds))

    expect((await deleteConversation(at.origin, ids[0] ?? '')).status).toBe(204)
    expect(await Promise.all(ids.map(store.holds))).toEqual([[], held[1], held[2]])
    const calls = stand.model.calls.length
    expect((await theirs.again()).received).toEqual(before[1]?.received)
    expect((await other.again()).received).toEqual(before[2]?.received)
    expect(stand.model.calls.length).toBe(calls)
  })

  test('has its summary broken off, and it does not come back', async () => {
    await using at = await adminStand({ model: { quality: 'hang' } })
    const { stand, store } = at
    const agent = stand.agent()
    let turn = await agent.turn()
    for (let turns = 0; turns < 40 && turn.summary !== 'pending'; turns += 1) turn = await agent.turn()
    await expect.poll(() => stand.model.calls.length).toBe(1)
    const conversation = conversationOf(turn)
    expect((await deleteConversation(at.origin, conversation)).status).toBe(204)
    await expect.poll(() => stand.model.calls[0]?.left).toBe(true)
    await stand.model.quiet()
    expect(await store.holds(conversation)).toEqual([])
    expect(stand.model.calls).toHaveLength(1)
  })

  test('gets no summary for a request of before, whose answer was still under way', async () => {
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    let isHeld = false
    await using at = await adminStand({
      windowTokens: 8_000,
      script: async () => {
        if (isHeld) {
          arrived.resolve()
          await released.promise
        }
        return completion('Understood.')
      },
    })
    const { stand, store } = at
    // The same agent under another key tells at which turn a summary is asked for.
    const ahead = stand.agent({ authorization: 'Bearer another-key' })
    let turns = 1
    while ((await ahead.turn()).summary !== 'pending') turns += 1
    await stand.model.quiet()
    expect(stand.model.calls).toHaveLength(1)
    const agent = stand.agent()
    const earlier = await agent.turns(turns - 1)
    const conversation = conversationOf(earlier.at(-1) ?? expect.fail())
    expect(stand.model.calls).toHaveLength(1)
    isHeld = true
    const late = agent.turn()
    await arrived.promise
    expect((await deleteConversation(at.origin, conversation)).status).toBe(204)
    released.resolve()
    expect((await late).summary).toBe('pending')
    await stand.model.quiet()
    expect(stand.model.calls).toHaveLength(1)
    expect((await store.holds(conversation)).filter((line) => line.startsWith('summary:'))).toEqual([])
  })
})

describe('what cannot be deleted', () => {
  test('a store that fails is told, and what it holds is not said to be gone', async () => {
    const place = await adminPlace()
    const inner = groupedStore()
    let isBroken = true
    const store: Store = {
      ...keptOpen(inner),
      name: 'sqlite:/somewhere',
      deleteGroup: async (group) => {
        if (isBroken) throw new Error('disk I/O error')
        return inner.deleteGroup(group)
      },
    }
    await using at = await standWith(completion('fine'), { store, flags: place.flags })
    const reply = await postChat(at.url, chatOf([{ role: 'user', content: 'hello' }]))
    const conversation = reply.header('x-foldgate-conversation') ?? ''
    await expect.poll(async () => (await inner.holds(conversation)).length).toBe(2)
    const failed = await deleteConversation(place.origin, conversation)
    expect([failed.status, failed.code]).toEqual([503, 'store_failed'])
    expect(failed.text).toContain('sqlite:/somewhere failed in the middle of it: send the request again')
    expect(failed.text).not.toContain('disk')
    expect(await inner.holds(conversation)).toHaveLength(2)
    expect(at.foldgate.log.join('')).toContain('"part":"store"')
    isBroken = false
    expect((await deleteConversation(place.origin, conversation)).status).toBe(204)
    expect(await inner.holds(conversation)).toEqual([])
  })

  test('a store that never answers is not waited for endlessly', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const store = { name: 'hung:', deleteGroup: () => new Promise<number>(() => {}) }
    const { forget, told } = forgetting({ store })
    const forgotten = forget().catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await forgotten).toMatchObject({ code: 'store_failed' })
    expect(told).toEqual(['store'])
  })

  test('is not said to be deleted where its file is still there', async () => {
    const deleteFile = vi
      .fn<() => Promise<boolean>>(async () => true)
      .mockRejectedValueOnce(new Error('EACCES'))
    const { forget, told } = forgetting({ archive: { delete: deleteFile } })
    const message = expect.stringMatching(/its file in archive\.dir may not be.*send the request again/)
    await expect(forget()).rejects.toMatchObject({ code: 'store_failed', message })
    await forget()
    expect(told).toEqual(['archive', { conversation: id, records: 0, archived_files: 1 }])
  })
})
