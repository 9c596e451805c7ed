import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test, afterEach, beforeEach, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { longRun } from '../../support/conversations.ts'
import {
  completion,
  events,
  fakeUpstream,
  json,
  stream,
  type ReceivedRequest,
  type Script,
} from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { createSharedPools } from '../../../src/pipeline/send/shared-pool.ts'

const fullError = { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } }
const eventOf = (value: object) => `data: ${JSON.stringify(value)}\n\n`

const isStreamed = ({ body }: ReceivedRequest) => body.includes('"stream":true')

/** What llama.cpp's server says when the memory of its slots is full. */
const full: Script = (received) =>
  isStreamed(received) ? events([eventOf(fullError)]) : json(fullError, 500)

const fine: Script = (received) => (isStreamed(received) ? stream('all is well') : completion('all is well'))

/**
 * Slots that share a memory of so many bytes: what is under way when it is full fails together. The first so many
 * requests are under way at once.
 */
function slotsOf(bytesMax: number, together: number): Script {
  const busy = new Map<ReceivedRequest, AbortController>()
  const begun = Promise.withResolvers<void>()
  let arrived = 0
  return async function answerFromSlot(received) {
    const slot = new AbortController()
    busy.set(received, slot)
    arrived += 1
    if (arrived === together) begun.resolve()
    await begun.promise
    const bytes = [...busy.keys()].reduce((sum, { body }) => sum + body.length, 0)
    if (bytes > bytesMax) for (const each of busy.values()) each.abort()
    const isFull = await pause(40, false, { signal: slot.signal }).catch(() => true)
    busy.delete(received)
    return isFull ? full : fine
  }
}

const run = longRun(8, 2, 0.5)
const asked = (who: number, more: object = {}) =>
  chatOf([...run, { role: 'user', content: `I am number ${who}.` }], more)

const bodiesOf = (requests: readonly ReceivedRequest[]) => requests.map(({ body }) => body.toString())

// llama.cpp's server shares one memory among its slots. Three requests of less than half of the window each filled it
// together: taken for an overflow of each, they confirmed each other, and a server of 8,192 tokens was held to 3,575.
describe('requests that fill a shared memory together go one after the other', () => {
  test.each([
    ['plain, behind a window that is not known', {}, {}],
    ['streamed, behind a window that is not known', { stream: true }, {}],
    ['plain, each below half of the window', {}, { window: { tokens: 30_000 } }],
    ['streamed, each below half of the window', { stream: true }, { window: { tokens: 30_000 } }],
  ])('%s', async (_name, more, profile) => {
    const size = JSON.stringify(asked(1, more)).length
    await using at = await standWith(slotsOf(size * 1.5, 3), { profile })
    const clients = [1, 2, 3].map((who) => asked(who, more))
    const replies = await Promise.all(clients.map((request) => postChat(at.url, request)))
    for (const reply of replies) {
      expect(reply.status).toBe(200)
      expect(reply.text.replaceAll(/[^a-z ]/g, '')).toContain('well')
      expect(reply.text).not.toContain('exceeded')
      expect(reply.action).toBe('relayed')
    }
    // Every one that was refused was sent again as it was, and no other form of it.
    const sent = bodiesOf(at.upstream.requests)
    expect(new Set(sent)).toEqual(new Set(clients.map((request) => JSON.stringify(request))))
    const attempts = replies.map(({ header }) => Number(header('x-foldgate-attempts')))
    expect(attempts.reduce((sum, each) => sum + each)).toBe(sent.length)
    expect(Math.min(...attempts)).toBeGreaterThan(1)

    const later = await postChat(at.url, asked(4))
    expect(later.header('x-foldgate-window')).not.toContain('learnt')
  })

  test('a neighbour that met no full memory is not held up, and the others wait for it', async () => {
    const end = Promise.withResolvers<void>()
    const neighbour: Script = async (_received, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.write(eventOf({ choices: [{ index: 0, delta: { content: 'well' } }] }))
      await end.promise
      outgoing.end('data: [DONE]\n\n')
    }
    await using at = await standWith([neighbour, full, fine])
    const first = postChat(at.url, asked(1, { stream: true }))
    await eventually(() => expect(at.upstream.requests).toHaveLength(1))
    const crowded = postChat(at.url, asked(2))
    await eventually(() => expect(at.upstream.requests).toHaveLength(2))
    const third = await postChat(at.url, asked(3))
    expect(third.header('x-foldgate-attempts')).toBe('1')
    expect(at.upstream.requests).toHaveLength(3)
    end.resolve()
    expect((await first).text).toContain('well')
    expect((await crowded).status).toBe(200)
    expect((await crowded).header('x-foldgate-attempts')).toBe('2')
    expect(bodiesOf(at.upstream.requests)[3]).toBe(JSON.stringify(asked(2)))
  })

  test('a stream that ends with nothing beside others is no overflow of a prompt that is small', async () => {
    const empty = 'data: [DONE]\n\n'
    const begun = Promise.withResolvers<void>()
    let arrived = 0
    const together: Script = async () => {
      arrived += 1
      if (arrived === 3) begun.resolve()
      await begun.promise
      return events([empty])
    }
    await using at = await standWith(together, { profile: { window: { tokens: 100_000 } } })
    const replies = await Promise.all([1, 2, 3].map((who) => postChat(at.url, asked(who, { stream: true }))))
    expect(replies.map(({ text }) => text)).toEqual([empty, empty, empty])
    expect(at.upstream.requests).toHaveLength(3)
  })

  test('another upstream goes on meanwhile', async () => {
    await using other = await fakeUpstream(fine)
    await using at = await standWith(full, { upstreams: { other: { url: other.url } } })
    const waiting = postChat(at.url, asked(1))
    await eventually(() => expect(at.upstream.requests).toHaveLength(1))
    const reply = await postChat(at.url.replace('/v1', '/u/other/v1'), asked(2))
    expect(reply.status).toBe(200)
    expect((await waiting).status).toBe(500)
  })
})

describe('a memory that stays full', () => {
  test.each([
    ['plain', {}, 500, JSON.stringify(fullError)],
    ['streamed', { stream: true }, 200, eventOf(fullError)],
  ])(
    '%s: the server’s own error is the client’s, after two more tries',
    async (_name, more, status, text) => {
      await using at = await standWith(full)
      const reply = await postChat(at.url, asked(1, more))
      expect(reply.status).toBe(status)
      expect(reply.text).toBe(text)
      expect(reply.header('x-foldgate-attempts')).toBe('3')
      expect(reply.action).toBe('relayed')
      expect(new Set(bodiesOf(at.upstream.requests))).toEqual(new Set([JSON.stringify(asked(1, more))]))
      expect(at.upstream.requests).toHaveLength(3)
      const later = await postChat(at.url, asked(2, more))
      expect(later.header('x-foldgate-window')).toBe('128000;source=default')
    },
  )

  test('a compacted request stays compacted: its original bytes would fill it all the more', async () => {
    await using at = await standWith([full, full, fine], {
      profile: { window: { tokens: 3_500, output_reserve: 300 } },
    })
    const reply = await postChat(at.url, asked(1))
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('compacted')
    const sent = bodiesOf(at.upstream.requests)
    expect(sent).toHaveLength(3)
    expect(new Set(sent).size).toBe(1)
    expect(sent[0]?.length).toBeLessThan(JSON.stringify(asked(1)).length)
  })

  test('who leaves is not waited for, and those behind get their turn', async () => {
    const held = Promise.withResolvers<void>()
    let arrived = 0
    await using at = await standWith(async () => {
      arrived += 1
      // As long as this one is under way, the other waits for it with its second try.
      if (arrived === 1) await held.promise
      return arrived <= 2 ? full : fine
    })
    const staying = postChat(at.url, asked(2))
    await eventually(() => expect(at.upstream.requests).toHaveLength(1))
    const leaving = new AbortController()
    const left = postChat(at.url, asked(1), {}, leaving.signal).catch(() => 'left')
    await eventually(() => expect(at.upstream.requests).toHaveLength(2))
    leaving.abort()
    expect(await left).toBe('left')
    held.resolve()
    expect((await staying).status).toBe(200)
    expect(bodiesOf(at.upstream.requests).slice(2)).toEqual([JSON.stringify(asked(2))])
  })

  test('a profile that only observes sends nothing again', async () => {
    await using at = await standWith(full, { profile: { observe: true } })
    expect((await postChat(at.url, asked(1))).status).toBe(500)
    expect(at.upstream.requests).toHaveLength(1)
  })
})

describe('turns at an upstream', () => {
  beforeEach(() => vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  const staying = new AbortController().signal

  /** Notes in `turns` who gets a turn, and holds it. */
  function waiting(pool: ReturnType<ReturnType<typeof createSharedPools>>, turns: string[], name: string) {
    return pool.turn(staying).then((letNextFollow) => {
      turns.push(name)
      return letNextFollow
    })
  }

  test('nobody is waited for longer than a few seconds, neither an answer nor another’s turn', async () => {
    const pool = createSharedPools()(null)
    const turns: string[] = []
    pool.enter(100)
    void waiting(pool, turns, 'first')
    void waiting(pool, turns, 'second')
    await vi.advanceTimersByTimeAsync(5_000)
    expect(turns).toEqual(['first'])
    await vi.advanceTimersByTimeAsync(15_000)
    expect(turns).toEqual(['first', 'second'])
  })
})
