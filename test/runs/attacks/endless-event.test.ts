import { describe, expect, test, vi } from 'vitest'
import { createEventCutter, createGrowingBytes } from '../../../src/pipeline/send/event-cutter.ts'
import { standWith } from '../../support/stand.ts'
import { bytes, type Script } from '../../support/fake-upstream.ts'

// A server begins an event and never ends it, or a gateway before it does so for whoever asks it to. Where Foldgate joins
// answers, it kept the event until it would be complete: its client got nothing, its process ever larger, and each piece
// cost a look at all before it.

const MEGABYTE = 1024 * 1024
const piece = Buffer.from('x'.repeat(64 * 1024))
const opening = 'data: {"choices":[{"index":0,"delta":{"content":"'

/** An event of so many bytes whose end waits until the client has got so much of it. */
const longEvent = (eventBytes: number, closing: Promise<void>): Script =>
  async function answer(_, outgoing) {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.write('data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}\n\n')
    outgoing.write(opening)
    for (let sent = 0; sent < eventBytes; sent += piece.length) {
      if (!outgoing.write(piece)) await new Promise((resolve) => outgoing.once('drain', resolve))
    }
    await closing
    outgoing.end('"},"finish_reason":null}]}\n\ndata: [DONE]\n\n')
  }

const settings = { settings: { usage: { in_streams: 'always' } } }

describe('an event that does not end goes on as it comes, byte for byte, however the reply is read', () => {
  test.each([
    ['with continuation', { profile: { continuation: { max: 2 } } }],
    ['with recall', { profile: { recall: { enabled: true } } }],
    ['with usage hidden', settings],
    ['with all of them', { profile: { recall: { enabled: true }, continuation: { max: 2 } }, ...settings }],
    ['with none', {}],
  ])('%s', async (_, options) => {
    const eventBytes = 12 * MEGABYTE
    const { promise: closing, resolve: close } = Promise.withResolvers<void>()
    await using stand = await standWith(longEvent(eventBytes, closing), options)
    const answer = await fetch(`${stand.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'm',
        stream: true,
        messages: [{ role: 'user', content: 'hi' }],
        tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
      }),
    })
    const received: Uint8Array[] = []
    let length = 0
    for await (const part of answer.body ?? []) {
      received.push(part)
      length += part.length
      // All of the event is here, and its end is still to come: nothing of it is kept.
      if (length >= eventBytes) close()
    }
    const text = Buffer.concat(received).toString()
    expect(text.slice(0, 200)).toContain('"content":"a"')
    expect(text.endsWith(`x"},"finish_reason":null}]}\n\ndata: [DONE]\n\n`)).toBe(true)
    expect(text.length).toBe(length)
    expect(text.split(opening)[1]?.startsWith('x'.repeat(1_000))).toBe(true)
    expect(text.lastIndexOf('x') - text.indexOf('xxx') + 1).toBe(eventBytes)
  })

  test('and a plain answer that does not end does, where it would be joined', async () => {
    const whole = Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(40 * MEGABYTE, 'x'), Buffer.from('"}')])
    await using stand = await standWith(bytes(whole, { 'content-type': 'application/json' }), {
      profile: { continuation: { max: 2 } },
    })
    const answer = await fetch(`${stand.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    })
    expect(Buffer.from(await answer.arrayBuffer()).equals(whole)).toBe(true)
  })
})

describe('pieces of a byte each cost what they are, not what came before them', () => {
  test('in an event', () => {
    const allocated = vi.spyOn(Buffer, 'allocUnsafeSlow')
    const joined = vi.spyOn(Buffer, 'concat')
    try {
      const cutter = createEventCutter({ eventBytesMax: MEGABYTE })
      const one = Buffer.from('x')
      let given = 0
      for (let at = 0; at < MEGABYTE; at += 1) given += cutter.feed(one).length
      expect(given).toBe(0)
      expect(cutter.feed(one)).toHaveLength(1)
      expect(cutter.feed(one)).toEqual([{ kind: 'part', bytes: one }])
      // Copied twice in all: each time into twice the room.
      const bytesAllocated = allocated.mock.calls.reduce((sum, [size]) => sum + size, 0)
      expect(bytesAllocated).toBeLessThanOrEqual(4 * MEGABYTE)
      expect(joined).not.toHaveBeenCalled()
    } finally {
      vi.restoreAllMocks()
    }
  })

  test('and what is kept is what came', () => {
    const growing = createGrowingBytes()
    for (const text of ['a', 'b'.repeat(5_000), '', 'c']) growing.add(Buffer.from(text))
    expect(growing.length()).toBe(5_002)
    expect(growing.take().toString()).toBe(`a${'b'.repeat(5_000)}c`)
    expect([growing.length(), growing.take().length]).toEqual([0, 0])
  })
})
