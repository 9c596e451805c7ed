import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/storage/open-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { memoryStore } from '../admin/memory.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { redisProgram, redisServer, withoutRedis } from '../support/redis-server.ts'
import { chatOf } from '../support/post-chat.ts'
import { round, textsIn, words, wordsOf } from '../support/counting-server.ts'
import type { TestMessage } from '../support/conversations.ts'
import {
  completion,
  fakeUpstream,
  overflow,
  stream,
  type ReceivedRequest,
  type Script,
} from '../support/fake-upstream.ts'
import { startFoldgate } from '../support/foldgate.ts'
import { forAllAsync, weighed } from '../support/property-runs.ts'

/** What each tenant may send at its upstream, in the upstream's count. */
const windows = [7_000, 9_000, 12_000]

type Company = {
  readonly credentials: Credentials
  /** Whether requests wait for their summaries: then all that is sent is the same each time. */
  readonly waits: boolean
  /** Whether they say different things. Else only their credentials tell them apart. */
  readonly isMarked: boolean
  readonly deeds: readonly Deed[]
}

/** Tenants that are told apart in any way, with many things to do. */
const anyCompany = (): fc.Arbitrary<Company> =>
  fc.record({
    credentials: fc.constantFrom(
      'bearer tokens',
      'keys behind one gateway token',
      'keys in the query',
      'client keys',
    ),
    waits: fc.boolean(),
    isMarked: fc.boolean(),
    deeds: fc.array(deed, { minLength: 16, maxLength: 30, size: 'max' }),
  })

type Telling = {
  readonly outcomes: readonly (readonly Outcome[])[]
  readonly received: readonly ReceivedRequest[]
  /** The ids of each tenant's conversations. */
  readonly ids: readonly ReadonlySet<string>[]
}

const keyOf = (tenant: number): string => `key-of-tenant-${tenant}`
const markOf = (tenant: number): string => `MARK-OF-TENANT-${tenant}`
const held = 'key-that-foldgate-holds'

/** Whose request it is, by a header that is passed on; questions about windows have none. */
const tenantOf = ({ headers }: ReceivedRequest): number | null =>
  headers['x-tenant'] === undefined ? null : Number(headers['x-tenant'])

/** Lets some of the tenants do their deeds: each its own one after the other, all of them beside each other. */
async function live(
  { credentials, waits, isMarked, deeds }: Company,
  tenants: readonly number[],
  store: Store,
): Promise<Telling> {
  const upstream = await fakeUpstream(upstreamOfAll)
  const hasClientKeys = credentials === 'client keys'
  const names = windows.map((_, tenant) => ({ name: `tenant ${tenant}`, key_env: `KEY_${tenant}` }))
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    store,
    ...(hasClientKeys && {
      upstreams: { default: { url: upstream.url, api_key_env: 'HELD' } },
      settings: { client_keys: names },
      env: {
        HELD: held,
        ...Object.fromEntries(windows.map((_, tenant) => [`KEY_${tenant}`, keyOf(tenant)])),
      },
    }),
    // Each writes its summaries itself, with what it pays its requests with. To clear results is not enough for any of them.
    profile: {
      strategy: 'summarize',
      clear: { enabled: false },
      summary: { mode: waits ? 'blocking' : 'background', wait_ms: 20_000 },
    },
  })
  const ids = windows.map(() => new Set<string>())
  const outcomes = await Promise.all(
    tenants.map(async (tenant) => {
      const mark = isMarked ? markOf(tenant) : 'nobody'
      const messages = beginningOf(mark)
      const done: Outcome[] = []
      for (const { how } of deeds.filter((each) => each.tenant === tenant)) {
        if (how === 'turn') messages.push(...nextRound(messages, mark))
        const { headers, query } = clientOf(credentials, tenant)
        const { stream: isStreamed, ...wish } = { stream: false, ...ways[how] }
        const name = `${tenant}-${done.length}`
        const origin = foldgate.url.slice(0, -'/v1'.length)
        const url = `${origin}/v1/chat/completions${query}`
        const reply = await postTo(url, chatOf(messages, isStreamed ? { stream: true } : {}), {
          ...headers,
          ...wish,
          'x-deed': name,
        })
        const sent = upstream.requests.filter((request) => request.headers['x-deed'] === name)
        const id = reply.told['conversation']
        if (id != null) ids[tenant]?.add(id)
        done.push({ ...reply, sent: sent.map(({ body }) => body.toString()) })
      }
      return done
    }),
  )
  await foldgate.close()
  await upstream.close()
  return { outcomes, received: [...upstream.requests, ...upstream.questions], ids }
}

/** How the tenants are told apart. */
type Credentials = 'bearer tokens' | 'keys behind one gateway token' | 'keys in the query' | 'client keys'

/** What a tenant does next: goes on by a round, or says the same once more in some way. */
type Deed = { readonly tenant: number; readonly how: keyof typeof ways }

const ways = {
  turn: {},
  again: {},
  streamed: { stream: true },
  forced: { 'x-foldgate-compact': 'force' },
  uncompacted: { 'x-foldgate-compact': 'off' },
  bypassed: { 'x-foldgate-bypass': '1' },
  unsummarised: { 'x-foldgate-compact': 'truncate' },
} as const

const deed = fc.record({
  tenant: fc.nat(windows.length - 1),
  how: fc.oneof(
    weighed(5, fc.constant('turn' as const)),
    weighed(3, fc.constantFrom('again', 'streamed', 'forced', 'uncompacted', 'bypassed', 'unsummarised')),
  ),
})

/** What came of a deed: all that reached the upstream for it, and what was answered. */
type Outcome = {
  readonly sent: readonly string[]
  readonly status: number
  readonly text: string
  readonly told: Readonly<Record<string, string | null>>
}

function clientOf(credentials: Credentials, tenant: number) {
  const key = keyOf(tenant)
  const own = { 'x-tenant': String(tenant) }
  switch (credentials) {
    case 'bearer tokens':
    case 'client keys':
      return { headers: { ...own, authorization: `Bearer ${key}` }, query: '' }
    case 'keys behind one gateway token':
      return { headers: { ...own, authorization: 'Bearer gateway', 'x-api-key': key }, query: '' }
    case 'keys in the query':
      return { headers: { ...own, authorization: 'Bearer gateway' }, query: `?key=${key}` }
  }
}

/** Holds each tenant to its own window, says what came from its cache, and puts the tenant's name into each answer. */
const upstreamOfAll: Script = (request) => {
  const tenant = tenantOf(request) ?? 0
  const tokens = wordsOf(textsIn(request))
  const windowTokens = windows[tenant] ?? 0
  const text = `## Facts\nTenant ${tenant} has had its nightly build repaired up to here.`
  const usage = { prompt_tokens: tokens, prompt_tokens_details: { cached_tokens: Math.floor(tokens * 0.9) } }
  if (tokens > windowTokens) return overflow(windowTokens, tokens)
  return request.body.includes('"stream":true') ? stream(text) : completion(text, usage)
}

async function postTo(url: string, body: object, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })
  const told = Object.fromEntries(
    ['action', 'conversation', 'window', 'tokens', 'passes', 'summary', 'attempts'].map((name) => [
      name,
      answer.headers.get(`x-foldgate-${name}`),
    ]),
  )
  return { status: answer.status, text: await answer.text(), told }
}

function beginningOf(mark: string): TestMessage[] {
  const messages: TestMessage[] = [
    { role: 'system', content: `You repair programs for ${mark}.` },
    { role: 'user', content: `Repair what the nightly run of ${mark} breaks. Start at src/f0.ts.` },
  ]
  for (let rounds = 0; rounds < 4; rounds += 1) messages.push(...nextRound(messages, mark))
  return messages
}

function nextRound(messages: readonly TestMessage[], mark: string): readonly TestMessage[] {
  const index = messages.length
  return round(index, `src/f${index}.ts of ${mark} ended with code ${index}. ${words(1_200, index)}`)
}

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
    await forAllAsync(6, anyCompany(), async (given) => {
      const { outcomes } = await expectUndisturbed(given, async () => memoryStore())
      for (const { told } of outcomes.flat()) {
        for (const name of ['action', 'summary', 'window']) seen.add(told[name] ?? null)
      }
    })
    // What could be taken for another's was there.
    for (const what of ['relayed', 'recovered', 'compacted', 'bypassed', 'ready'])
      expect(seen).toContain(what)
  })

  test('records in a file', async () => {
    await forAllAsync(3, anyCompany(), async (given) => {
      const { received } = await expectUndisturbed(given, sqliteStore)
      expect(received.length).toBeGreaterThanOrEqual(given.deeds.length)
    })
  })

  test.skipIf(redisProgram === undefined)(
    `records on one server${withoutRedis}`,
    async () => {
      const server = await redisServer()
      onTestFinished(() => server[Symbol.asyncDispose]())
      await forAllAsync(3, anyCompany(), async (given) => {
        await server.ask('FLUSHALL')
        const store = await openAt(server.url)
        const together = await live(given, everybody, store)
        expectOwn(given, together)
        expect(together.received.length).toBeGreaterThanOrEqual(given.deeds.length)
      })
    },
    120_000,
  )
})
