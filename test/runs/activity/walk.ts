import { createTotalsKeeper, type Totals } from '../../../src/telemetry/conversations/totals.ts'
import { openJudge } from '../../support/strict-upstream/judgement.ts'
import { startStrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'
import type { Store } from '../../../src/storage/store.ts'
import { adminPlace } from '../../admin/ask-admin.ts'
import { keptOpen } from '../../pipeline/summaries/summary-stand.ts'
import { openClient, refusedIn } from '../harness/stage.ts'
import { rulesFor, type Subject } from '../harness/subject.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { readBooks, type Books } from './books.ts'

export type WalkOptions = {
  readonly subject: Subject
  readonly windowTokens: number
  /** It is closed at the end. */
  readonly store: Store
  readonly count: (text: string) => number
}

/** One request of the client's, as those see it who are not Foldgate. */
export type WalkedRequest = {
  readonly status: number
  /** '' where the answer has none of this name. */
  readonly header: (name: string) => string
  /** What reached the upstream, the last attempt, by the upstream's count. */
  readonly sent: { readonly promptTokens: number; readonly cachedTokens: number }
  readonly rawMessages: readonly string[]
  readonly attempts: number
  readonly refusals: number
  /** What upstreams would have made of the client's own body: this one, and one with an endless window. */
  readonly whole: {
    readonly isRefused: boolean
    readonly promptTokens: number
    readonly cachedTokens: number
  }
}

export type Walk = {
  readonly requests: readonly WalkedRequest[]
  readonly books: Books
  /** What the page's headline is made of, as it was written down at the end. */
  readonly totals: Totals
}

/** Per million tokens. */
export const prices = { input: 2.5, cached_input: 1.25, output: 10 } as const

/** Makes every request of a conversation, some plain, some streamed, and reads what Foldgate tells of them. */
export async function walk({ subject, windowTokens, store, count }: WalkOptions): Promise<Walk> {
  const rules = rulesFor(subject.messages)
  const judging = { template: 'lenient', rules, outputReserveChecked: true, count } as const
  const upstream = await startStrictUpstream({
    ...judging,
    windowTokens,
    reply: () => ({ content: 'Walked.' }),
  })
  const judge = openJudge({ ...judging, windowTokens })
  const endless = openJudge({ ...judging, windowTokens: Number.POSITIVE_INFINITY })
  const { flags, origin: adminOrigin } = await adminPlace()
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    profile: { window: { tokens: windowTokens } },
    settings: {
      admin: { show_content: true },
      prices: { '*': prices },
      // Asked for of all streams, so that the provider's count is known of every prompt.
      usage: { in_streams: 'always' },
    },
    flags,
    store: keptOpen(store),
  })
  const client = openClient(foldgate.url)

  async function ask(point: number, isStreamed: boolean): Promise<WalkedRequest> {
    upstream.forget()
    const { bytes } = subject.body(point, isStreamed)
    const { status, header } = await client.post('chat/completions', bytes, { authorization: OWNER })
    const received = upstream.requests.filter(({ method }) => method === 'POST')
    const last = received.at(-1)
    const { promptTokens, cachedTokens } = endless(bytes.toString(), OWNER)
    const { rejection } = judge(bytes.toString(), OWNER)
    return {
      status,
      header: (name) => header(name) ?? '',
      sent: { promptTokens: last?.promptTokens ?? 0, cachedTokens: last?.cachedTokens ?? 0 },
      rawMessages: last?.rawMessages ?? [],
      attempts: received.length,
      refusals: refusedIn({ received }),
      whole: { isRefused: rejection !== null, promptTokens, cachedTokens },
    }
  }

  const requests: WalkedRequest[] = []
  let books: Books
  try {
    for (const [number, point] of subject.points.entries()) {
      requests.push(await ask(point, number % STREAMED_EVERY === STREAMED_EVERY - 1))
    }
    books = await readBooks(adminOrigin, requests.length)
  } finally {
    await client.close()
    await foldgate.close()
    await upstream.close()
  }
  const totals = await totalsIn(store)
  await store.close()
  return { requests, books, totals }
}

const OWNER = 'Bearer walker'

/** Every third request is a streamed one. */
const STREAMED_EVERY = 3

const ROWS_MAX = 1_000

async function totalsIn(store: Store): Promise<Totals> {
  const keeper = createTotalsKeeper({ process: 'reader', writeDown: () => {} })
  const rows = await store.readRows('totals', { from: 'oldest', beyond: null, limit: ROWS_MAX })
  for (const { text } of rows) keeper.addWritten(text)
  keeper.close()
  const all = keeper.all()
  if (all === null) throw new Error('no totals were written down')
  return all
}
