import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { journalEventSchema, usageRowSchema } from '../../../src/telemetry/journal/rows.ts'
import type { Store } from '../../../src/storage/store.ts'
import { keptOpen } from '../../pipeline/summaries/summary-stand.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { completion } from '../../support/fake-upstream.ts'
import { adminStand, conversationOf, type AdminStand } from '../admin-stand.ts'
import { memoryStore } from '../memory.ts'
import { idOf } from '../../telemetry/rows.ts'

/** A run that fits, of which a compaction frees a good deal. */
const fitting = longRun(12, 1)
const roomy = { window: { tokens: 24_000, output_reserve: 2_000 } }

const cardSchema = z.looseObject({
  id: z.string(),
  parent: z.string().nullable(),
  answering: z.boolean(),
  requests: z.int(),
  compactions: z.int(),
})

const detailSchema = cardSchema.extend({
  rows: z.array(usageRowSchema),
  events: z.array(journalEventSchema),
  messages: z.array(z.looseObject({ received: z.string().nullable() })).nullable(),
  shows_content: z.boolean(),
})

async function cards(at: AdminStand): Promise<readonly z.output<typeof cardSchema>[]> {
  const listSchema = z.strictObject({
    conversations: z.array(cardSchema),
    unread: z.array(z.looseObject({})),
  })
  return listSchema.parse(JSON.parse((await at.ask('/conversations')).text)).conversations
}

const detail = async (at: AdminStand, id: string): Promise<z.output<typeof detailSchema>> =>
  detailSchema.parse(JSON.parse((await at.ask(`/conversations/${id}`)).text))

/** The next request of the run: one more answer and question than the last. */
async function ask(at: AdminStand, messages: readonly TestMessage[], headers: Record<string, string> = {}) {
  const reply = await postChat(at.url, chatOf(messages), headers)
  expect(reply.status).toBe(200)
  return { id: conversationOf(reply) }
}

function goneOn(messages: readonly TestMessage[], turns: number): TestMessage[] {
  const more = Array.from({ length: turns }, (_, turn) => [
    { role: 'assistant', content: 'Understood.' },
    { role: 'user', content: `And then, ${turn}?` },
  ])
  return [...messages, ...more.flat()]
}

/** The rows of all journals that name a conversation. */
async function rowsIn(store: Store, id: string): Promise<readonly string[]> {
  const names = ['events', 'usage', 'totals'] as const
  const all = await Promise.all(
    names.map((name) => store.readRows(name, { from: 'oldest', beyond: null, limit: 1_000 })),
  )
  return all.flat().flatMap(({ text }) => (text.includes(id) ? [text] : []))
}

describe('what there is to see', () => {
  test('a conversation, from its first request on, with figures of the latest', async () => {
    await using at = await adminStand({ profile: roomy })
    const { id } = await ask(at, fitting, { 'x-foldgate-conversation': 'the nightly run' })
    await expect.poll(async () => (await cards(at))[0]?.answering).toBe(false)
    const [card] = await cards(at)
    const [label, counts] = ['the nightly run', { requests: 1, compactions: 0 }]
    expect(card).toMatchObject({
      id,
      parent: null,
      label,
      ...counts,
      window_tokens: 24_000,
      action: 'relayed',
    })
    expect(card).toMatchObject({ profile: 'default', model: 'test-model' })
    const seen = await detail(at, id)
    expect(seen.rows).toHaveLength(1)
    expect(seen.rows[0]).toMatchObject({ messages_received: fitting.length, prompt_tokens: 10 })
    expect(seen.messages).toHaveLength(fitting.length)
    expect(seen.shows_content).toBe(false)
    expect(seen.messages?.filter(({ received, sent }) => received !== null || sent !== null)).toEqual([])
  })

  test('texts only where admin.show_content lets them be seen', async () => {
    await using at = await adminStand({ admin: { show_content: true } })
    const id = await at.say('PLANTED words')
    const seen = await detail(at, id)
    expect(seen.shows_content).toBe(true)
    expect(seen.messages?.[0]?.received).toBe('{"role":"user","content":"PLANTED words"}')
    // The list has the first words of a task and nothing else.
    const listed = (await at.ask('/conversations')).text
    expect(listed.match(/PLANTED/g)).toHaveLength(1)
    expect(listed).toContain('"opening":{"words":"PLANTED words","folder":null}')
  })

  test('nothing of what is no conversation, or of one that nobody knows', async () => {
    await using at = await adminStand()
    for (const [method, path, status, code] of [
      ['GET', 'short', 400, 'invalid_conversation_id'],
      ['POST', 'short/compact', 400, 'invalid_conversation_id'],
      ['GET', 'abcdefgh-_01234%2F', 400, 'invalid_conversation_id'],
      ...['short', `${idOf(1)}6`, 'abcdefgh-_01234%0A', 'abcdefgh+.012345', '*'].map(
        (id) => ['DELETE', id, 400, 'invalid_conversation_id'] as const,
      ),
      ['GET', idOf(1), 404, 'unknown_conversation'],
      // The button said "asked for" of conversations that were never here, or had just been deleted.
      ['POST', `${idOf(7)}/compact`, 404, 'unknown_conversation'],
    ] as const) {
      const answer = await at.ask(`/conversations/${path}`, { method })
      expect([path, answer.status, answer.code]).toEqual([path, status, code])
      if (status === 400) expect(answer.text).toContain('x-foldgate-conversation')
    }
    expect(await at.ask('/events').then(({ text }) => JSON.parse(text).events)).toEqual([])
  })
})

describe('a conversation that is deleted', () => {
  test('leaves the list, the journal and the memory; others stay', async () => {
    const store = memoryStore()
    await using at = await adminStand({ store, profile: roomy, admin: { show_content: true } })
    const { id } = await ask(at, fitting, { 'x-foldgate-compact': 'force' })
    const other = await at.say('hello')
    await at.ask(`/conversations/${id}/compact`, { method: 'POST' })
    await expect.poll(async () => (await rowsIn(store, id)).length).toBe(3)
    expect((await at.ask(`/conversations/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect(await rowsIn(store, id)).toEqual([])
    expect((await cards(at)).map((card) => card.id)).toEqual([other])
    expect((await at.ask(`/conversations/${id}`)).code).toBe('unknown_conversation')
    expect((await at.ask(`/events?conversation=${id}`)).text).toBe('{"events":[],"before":null}')
    expect((await rowsIn(store, other)).length).toBeGreaterThan(0)
    // Nor is a row written behind the deletion that was still waiting for it.
    const [waiting, last] = [await at.say('something else'), await at.say('and more')]
    expect((await at.ask(`/conversations/${waiting}`, { method: 'DELETE' })).status).toBe(204)
    await expect.poll(async () => (await rowsIn(store, last)).length).toBe(1)
    expect(await rowsIn(store, waiting)).toEqual([])
  })
})

test('after a restart conversations and totals are back, counted once', async () => {
  const store = keptOpen(memoryStore())
  const usage = { prompt_tokens: 900, prompt_tokens_details: { cached_tokens: 100 } }
  const script = completion('fine', usage)
  let before: Awaited<ReturnType<typeof cards>> = []
  let id = ''
  {
    await using at = await adminStand({ store, script, profile: roomy })
    id = (await ask(at, fitting, { 'x-foldgate-compact': 'force' })).id
    await ask(at, goneOn(fitting, 1))
    await at.say('hello')
    await expect.poll(async () => (await cards(at)).some(({ answering }) => answering)).toBe(false)
    before = await cards(at)
  }
  await using at = await adminStand({ store, script, profile: roomy })
  expect(await cards(at)).toEqual(before)
  expect(await cards(at)).toEqual(before)
  expect((await detail(at, id)).rows).toHaveLength(2)
  // What became of messages was in memory only.
  expect((await detail(at, id)).messages).toBeNull()
  await ask(at, goneOn(fitting, 2))
  await expect.poll(async () => (await detail(at, id)).requests).toBe(3)
})
