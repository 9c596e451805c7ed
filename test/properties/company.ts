import fc from 'fast-check'
import type { Store } from '../../src/stores/store.ts'
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

/** What each tenant may send at its upstream, in the upstream's count. */
export const windows = [7_000, 9_000, 12_000]

export type Company = {
  readonly credentials: Credentials
  /** Whether requests wait for their summaries: then all that is sent is the same each time. */
  readonly waits: boolean
  /** Whether they say different things. Else only their credentials tell them apart. */
  readonly isMarked: boolean
  readonly deeds: readonly Deed[]
}

/** Tenants that are told apart in any way, with many things to do. */
export function anyCompany(): fc.Arbitrary<Company> {
  return fc.record({
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
}

export type Telling = {
  readonly outcomes: readonly (readonly Outcome[])[]
  readonly received: readonly ReceivedRequest[]
  /** The ids of each tenant's conversations. */
  readonly ids: readonly ReadonlySet<string>[]
}

export const keyOf = (tenant: number): string => `key-of-tenant-${tenant}`
export const markOf = (tenant: number): string => `MARK-OF-TENANT-${tenant}`
export const held = 'key-that-foldgate-holds'

/** Whose request it is, by a header that is passed on; questions about windows have none. */
export function tenantOf({ headers }: ReceivedRequest): number | null {
  return headers['x-tenant'] === undefined ? null : Number(headers['x-tenant'])
}

/** Lets some of the tenants do their deeds: each its own one after the other, all of them beside each other. */
export async function live(
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
    // Each writes its summaries itself, with what it pays its requests with.
    profile: { strategy: 'summarize', summary: { mode: waits ? 'blocking' : 'background', wait_ms: 20_000 } },
  })
  const ids = windows.map(() => new Set<string>())
  const outcomes = await Promise.all(
    tenants.map(async (tenant) => {
      const messages = beginningOf(isMarked ? markOf(tenant) : 'nobody')
      const done: Outcome[] = []
      for (const { how } of deeds.filter((each) => each.tenant === tenant)) {
        if (how === 'turn') messages.push(...nextRound(messages, isMarked ? markOf(tenant) : 'nobody'))
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

// --- internal ---

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
    { weight: 5, arbitrary: fc.constant('turn' as const) },
    {
      weight: 3,
      arbitrary: fc.constantFrom('again', 'streamed', 'forced', 'uncompacted', 'bypassed', 'unsummarised'),
    },
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
const upstreamOfAll: Script = (request, outgoing, incoming) => {
  const tenant = tenantOf(request) ?? 0
  const tokens = wordsOf(textsIn(request))
  const windowTokens = windows[tenant] ?? 0
  const text = `## Facts\nTenant ${tenant} has had its nightly build repaired up to here.`
  const usage = { prompt_tokens: tokens, prompt_tokens_details: { cached_tokens: Math.floor(tokens * 0.9) } }
  let script = completion(text, usage)
  if (request.body.includes('"stream":true')) script = stream(text)
  if (tokens > windowTokens) script = overflow(windowTokens, tokens)
  return script(request, outgoing, incoming)
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
