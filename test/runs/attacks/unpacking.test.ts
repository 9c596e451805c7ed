import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createFairShare } from '../../../src/scheduling/fair-share.ts'
import { receiveBody, type RequestBody } from '../../../src/http/receive-body.ts'
import { fakeUpstream, silence } from '../../support/fake-upstream.ts'
import { startProxy } from '../../http/start-proxy.ts'

const MEGABYTE = 1024 * 1024

const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** What 48 MB of one byte come to. */
const bombs: readonly (readonly [string, Buffer])[] = [
  ['gzip', gzipSync(Buffer.alloc(48 * MEGABYTE, 'a'))],
  ['br', brotliCompressSync(Buffer.alloc(48 * MEGABYTE, 'a'), fast)],
  ['zstd', zstdCompressSync(Buffer.alloc(48 * MEGABYTE, 'a'))],
  ['br, zstd', zstdCompressSync(brotliCompressSync(Buffer.alloc(48 * MEGABYTE, 'a'), fast))],
]

// A hundred bytes of brotli are as many bytes of memory as a body may have: they were paid for when they were there, and
// made one in a single step at the end, beside their pieces.
describe('a small body that unpacks to a large one', () => {
  test.each(bombs)(
    'in %s pays as it unpacks, and is refused where there is no room',
    async (coding, body) => {
      await using upstream = await fakeUpstream(silence)
      let takenMax = 0
      let takes = 0
      const budget = createFairShare({ max: 32 * MEGABYTE, lends: true })
      await using proxy = await startProxy(upstream.url, {
        handleConversation: (exchange) =>
          receiveBody(exchange, {
            bodyBytesMax: 64 * MEGABYTE,
            budget: {
              ...budget,
              open: (holder) => {
                const holding = budget.open(holder)
                return {
                  ...holding,
                  take: (bytes) => {
                    const taking = holding.take(bytes)
                    takes += 1
                    takenMax = Math.max(takenMax, budget.taken())
                    return taking
                  },
                }
              },
            },
            arrival: { silenceMs: 60_000, bytesPerSecondMin: 0 },
          }),
      })
      const neighbour = budget.open({ name: 'neighbour', isAnswered: () => false, giveWay: () => {} })
      neighbour.take(MEGABYTE)
      const answer = await fetch(`${proxy.origin}/v1/chat/completions`, {
        method: 'POST',
        body: new Uint8Array(body),
        headers: { 'content-encoding': coding },
      })
      expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: 'overloaded' } }])
      // In many pieces, as far as there was room, and all of it is given back.
      expect(takes).toBeGreaterThan(100)
      expect(takenMax).toBeLessThanOrEqual(32 * MEGABYTE)
      expect(budget.taken()).toBe(MEGABYTE)
    },
  )

  test.each(bombs)('in %s is unpacked where there is room, byte for byte', async (coding, body) => {
    await using upstream = await fakeUpstream(silence)
    const bodies: RequestBody[] = []
    const budget = createFairShare({ max: 256 * MEGABYTE, lends: true })
    await using proxy = await startProxy(upstream.url, {
      handleConversation: async (exchange) => {
        const arrival = { silenceMs: 60_000, bytesPerSecondMin: 0 }
        bodies.push(await receiveBody(exchange, { bodyBytesMax: 64 * MEGABYTE, budget, arrival }))
        exchange.outgoing.end()
      },
    })
    const headers = { 'content-encoding': coding }
    await fetch(`${proxy.origin}/v1/chat/completions`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers,
    })
    expect(bodies[0]?.decoded?.equals(Buffer.alloc(48 * MEGABYTE, 'a'))).toBe(true)
    bodies[0]?.release()
    expect(budget.taken()).toBe(0)
  })
})
