import fc from 'fast-check'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/stores/open-store.ts'
import type { Store } from '../../src/stores/store.ts'
import { memoryStore } from '../admin/memory.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { redisProgram, redisServer, withoutRedis } from '../support/redis-server.ts'
import {
  anyCompany,
  held,
  keyOf,
  live,
  markOf,
  tenantOf,
  windows,
  type Company,
  type Telling,
} from './company.ts'
import { propertyRuns } from '../support/property-runs.ts'

/** That every request carries its own tenant's credential, and nothing of any other. */
function expectOwn({ credentials, isMarked }: Company, { received, outcomes, ids }: Telling): void {
  for (const request of received) {
    const tenant = tenantOf(request)
    const wire = [request.url, ...request.rawHeaders].join('\n')
    const body = request.body.toString()
    const seen = windows.flatMap((_, each) => (wire.includes(keyOf(each)) ? [each] : []))
    if (credentials === 'client keys') {
      expect(seen).toEqual([])
      expect(request.headers.authorization).toBe(`Bearer ${held}`)
    } else {
      // A question about a window has a credential, and no conversation.
      expect(seen).toEqual([tenant ?? expect.any(Number)])
    }
    if (tenant === null) expect(body).toBe('')
    else if (isMarked) {
      expect(body).toContain(markOf(tenant))
      for (const [other] of windows.entries()) {
        if (other !== tenant) expect(body).not.toContain(markOf(other))
      }
    }
    for (const [other] of windows.entries()) {
      if (tenant !== null && other !== tenant) expect(body).not.toContain(`Tenant ${other} has had`)
    }
  }
  for (const [tenant, done] of outcomes.entries()) {
    for (const { text, told } of done) {
      for (const [other, windowTokens] of windows.entries()) {
        if (other === tenant) continue
        expect(text).not.toContain(`Tenant ${other}`)
        expect(told['window'] ?? '').not.toMatch(new RegExp(`^${windowTokens};`))
      }
    }
  }
  const all = ids.flatMap((own) => [...own])
  expect(new Set(all).size).toBe(all.length)
}

const everybody = windows.map((_, tenant) => tenant)

/** In company each tenant's requests reach the upstream as they would if it were alone, to the byte, and so do its answers. */
async function expectUndisturbed(given: Company, freshStore: () => Promise<Store>): Promise<Telling> {
  const together = await live(given, everybody, await freshStore())
  expectOwn(given, together)
  // A summary that nobody waits for may be there or not.
  for (const tenant of given.waits ? everybody : []) {
    const alone = await live(given, [tenant], await freshStore())
    expect(together.outcomes[tenant]).toEqual(alone.outcomes[0])
  }
  return together
}

async function sqliteStore(): Promise<Store> {
  const path = join(await temporaryFolder(), 'store.sqlite')
  return openAt(`sqlite:${path}`)
}

async function openAt(url: string): Promise<Store> {
  const settings = { url, ttl_days: 1, max_mb: 64, required: true, encrypt_key_env: null, encrypt_key: null }
  return (await openStore(settings, { env: {}, platform: process.platform })).store
}

describe('tenants with credentials of their own never meet, whatever they do at the same time', () => {
  test('records in memory', async () => {
    const seen = new Set<string | null>()
    await fc.assert(
      fc.asyncProperty(anyCompany(), async (given) => {
        const { outcomes } = await expectUndisturbed(given, async () => memoryStore())
        for (const { told } of outcomes.flat()) {
          for (const name of ['action', 'summary', 'window']) seen.add(told[name] ?? null)
        }
      }),
      { numRuns: propertyRuns(6) },
    )
    // What could be taken for another's was there.
    for (const what of ['relayed', 'recovered', 'compacted', 'bypassed', 'ready'])
      expect(seen).toContain(what)
  })

  test('records in a file', async () => {
    await fc.assert(
      fc.asyncProperty(anyCompany(), async (given) => {
        const { received } = await expectUndisturbed(given, sqliteStore)
        expect(received.length).toBeGreaterThanOrEqual(given.deeds.length)
      }),
      { numRuns: propertyRuns(3) },
    )
  })

  test.skipIf(redisProgram === undefined)(
    `records on one server${withoutRedis}`,
    async () => {
      const server = await redisServer()
      onTestFinished(() => server[Symbol.asyncDispose]())
      await fc.assert(
        fc.asyncProperty(anyCompany(), async (given) => {
          await server.ask('FLUSHALL')
          const store = await openAt(server.url)
          const together = await live(given, everybody, store)
          expectOwn(given, together)
          expect(together.received.length).toBeGreaterThanOrEqual(given.deeds.length)
        }),
        { numRuns: propertyRuns(3) },
      )
    },
    120_000,
  )
})
