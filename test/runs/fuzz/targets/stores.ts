import * as fc from 'fast-check'
import { conversationOf } from '../../../admin/admin-stand.ts'
import { adminPlace, askAdmin } from '../../../admin/ask-admin.ts'
import { chatOf, postChat } from '../../../support/post-chat.ts'
import { completion, fakeUpstream, overflow, type Script } from '../../../support/fake-upstream.ts'
import { startFoldgate } from '../../../support/foldgate.ts'
import { growing, longRun, type TestMessage } from '../../../support/conversations.ts'
import { encryptedStore } from '../../../../src/storage/encrypted-store.ts'
import { isConversationId } from '../../../../src/conversation/prefix-keys.ts'
import { checkLog, checkTreated } from '../check.ts'
import { fuzzTarget } from '../target.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { openMemoryStore } from '../../../../src/storage/memory-store.ts'
import type { JournalName, NewJournalRow, Store, StoreEntry } from '../../../../src/storage/store.ts'
import { anyOf, indexAt, place, texts, withOtherField } from '../arbitrary.ts'
import { anyCharacter } from '../../../support/any-character.ts'

/** What lies in a store that was used. */
type Contents = {
  readonly entries: readonly StoreEntry[]
  readonly rows: readonly { readonly journal: JournalName; readonly row: NewJournalRow }[]
  /** The conversation that it was used for, and its id. */
  readonly messages: readonly TestMessage[]
  readonly conversation: string
}

/** Small enough that a conversation is compacted every few rounds. */
const profile = {
  window: { tokens: 3_000, output_reserve: 256 },
  strategy: 'summarize',
  summary: { wait_ms: 200, min_savings_ratio: 0 },
  recall: { enabled: true },
} as const

/** The secret of a store whose values are encrypted. */
const STORE_SECRET = 'a secret for fuzzing'

/** Uses a store for everything that there is to keep: compactions, seen requests, summaries, lessons, journals, wishes. */
async function liveWith(isEncrypted: boolean): Promise<Contents> {
  const entries = new Map<string, StoreEntry>()
  const rows: { journal: JournalName; row: NewJournalRow }[] = []
  const bare = openStore()
  const recording: Store = {
    ...bare,
    putIfAbsent: async (key, value, group) => {
      const standing = await bare.putIfAbsent(key, value, group)
      keep({ key, value: standing, ...(group !== undefined && { group }) })
      return standing
    },
    put: async (written) => {
      written.forEach(keep)
      await bare.put(written)
    },
    appendRows: async (journal, written) => {
      rows.push(...written.map((row) => ({ journal, row })))
      await bare.appendRows(journal, written)
    },
  }
  function keep(entry: StoreEntry): void {
    entries.set(entry.key, entry)
  }
  const messages = longRun(24, 7)
  await using upstream = await fakeUpstream(answersInTurn())
  const { flags, origin } = await adminPlace()
  const store = isEncrypted ? encryptedStore(recording, STORE_SECRET) : recording
  const foldgate = await startFoldgate({ upstream: upstream.url, profile, store, flags })
  let conversation = ''
  for (const request of growing(messages)) {
    const reply = await postChat(foldgate.url, chatOf(request))
    conversation = conversationOf(reply)
    // A summary that is asked for beside an answer shall be there before the next request.
    await sleep(10)
  }
  await askAdmin(origin, `/conversations/${conversation}/compact`, { method: 'POST' })
  await foldgate.close()
  return { entries: [...entries.values()], rows, messages, conversation }
}

/** A store with these contents. */
async function storeWith(contents: Pick<Contents, 'entries' | 'rows'>): Promise<Store> {
  const store = openStore()
  await store.put(contents.entries)
  for (const { journal, row } of contents.rows) await store.appendRows(journal, [row])
  return store
}

const openStore = (): Store => openMemoryStore({ bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })

/** Now and then a prompt is refused, so that there is a window to be learnt. */
function answersInTurn(): Script {
  let asked = 0
  const fine = completion(
    '# Summary\n\nThe retries were traced to src/queue/retry.ts; the test is still red.',
  )
  return () => {
    asked += 1
    return asked === 3 ? overflow(2_800) : fine
  }
}

/** Makes another value of one that was kept, and says how. */
type DamageValue = {
  /** `beside` are the values that lie beside it. */
  readonly change: (value: string, beside: readonly string[]) => string
  readonly toString: () => string
}

const another = (at: number) => (value: string, beside: readonly string[]) =>
  beside[indexAt(beside.length, at)] ?? value
const flipped = (share: number, mask: number) => (value: string) => {
  const at = indexAt(value.length, share)
  return value.slice(0, at) + String.fromCharCode(value.charCodeAt(at) ^ mask) + value.slice(at + 1)
}

/** Any damage: other text, another entry's value, a character, an end, or one field of the JSON that it is. */
function damageValue(): fc.Arbitrary<DamageValue> {
  const told = (change: DamageValue['change'], ...how: readonly unknown[]): DamageValue => ({
    change,
    toString: () => JSON.stringify(how).slice(0, 400),
  })
  const otherText = anyOf([2, fc.constantFrom(...others)], fc.string({ unit: anyCharacter }))
  const otherField = fc.oneof(fc.constantFrom(...odd), fc.jsonValue({ maxDepth: 2 }))
  return anyOf(
    [3, otherText.map((text) => told(() => text, 'is', text))],
    [2, place.map((at) => told(another(at), 'is another', at))],
    [2, place.map((at) => told((value) => value.slice(0, indexAt(value.length, at)), 'is cut at', at))],
    [
      2,
      fc
        .tuple(place, fc.integer({ min: 1, max: 127 }))
        .map(([at, mask]) => told(flipped(at, mask), 'is flipped at', at, mask)),
    ],
    [
      8,
      fc
        .tuple(place, otherField)
        .map(([at, other]) => told((value) => withOtherField(value, at, other), 'has at', at, other)),
    ],
  )
}

const oddNumbers = [0, -1, 1, 0.5, -0.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 8.64e15 + 1, 4_102_444_800_000]

const odd: readonly unknown[] = [
  null,
  true,
  false,
  '',
  [],
  {},
  [null],
  { length: -1 },
  ...oddNumbers,
  ...texts`
    x ¦ -1 ¦ NaN ¦ __proto__ ¦ \u0000 ¦ \ud800 ¦ 2999-12-31T00:00:00.000Z ¦ ../.. ¦ ${'x'.repeat(20_000)}
  `,
]

const others = [
  '',
  ...texts`
    \u0020 ¦ null ¦ [] ¦ {} ¦ 0 ¦ "" ¦ "x" ¦ true ¦ { ¦ [1, ¦ undefined ¦ \u0000 ¦ \ufeff{} ¦ {"__proto__":1}
    ${'['.repeat(20_000)} ¦ ${'{"a":'.repeat(20_000)} ¦ ${'x'.repeat(1_000_000)} ¦ ${'9'.repeat(400)}
    {"version":1e999}
  `,
]

/**
 * A store whose contents were damaged: values and journal rows, encrypted ones too. Requests are answered all the same and
 * what is sent obeys the message rules, the admin pages answer, and a conversation can be asked about and deleted.
 */
export const stores = fuzzTarget('stores', 3, ['compacted'], async () => {
  const [plain, sealed] = [await liveWith(false), await liveWith(true)]
  const upstream = await fakeUpstream(completion('# Summary\n\nWhat was said before.'))
  return {
    arbitrary: fc.record({
      isEncrypted: anyOf([3, fc.constant(false)], fc.constant(true)),
      damages: fc.array(
        fc.record({
          kind: fc.constantFrom(...KINDS, ''),
          at: place,
          damage: damageValue(),
          isAll: fc.boolean(),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
    check: async ({ isEncrypted, damages }) => {
      const contents = isEncrypted ? sealed : plain
      const bare = await storeWith(damaged(contents, damages))
      const listener = await adminPlace()
      const foldgate = await startFoldgate({
        upstream: upstream.url,
        profile,
        store: isEncrypted ? encryptedStore(bare, STORE_SECRET) : bare,
        flags: listener.flags,
      })
      try {
        const more: TestMessage[] = [
          ...contents.messages,
          { role: 'assistant', content: 'fine' },
          { role: 'user', content: 'and now?' },
        ]
        const actions: string[] = []
        for (const messages of [contents.messages, more]) {
          const reply = await checkTreated(foldgate.url, upstream, messages)
          if (!isConversationId(conversationOf(reply)))
            throw new Error(`x-foldgate-conversation: ${conversationOf(reply)}`)
          actions.push(reply.action ?? '')
        }
        await askEverything(listener.origin, contents.conversation)
        checkLog(foldgate.log)
        return `${isEncrypted ? 'encrypted, ' : ''}${actions.at(-1)}`
      } finally {
        await foldgate.close()
      }
    },
    close: () => upstream.close(),
  }
})

const KINDS = texts`
  compaction: ¦ seen: ¦ name: ¦ learnt: ¦ summary: ¦ ahead: ¦ spent: ¦ events ¦ usage ¦ totals ¦ wishes
`

type Damage = {
  readonly kind: string
  /** Which one of its kind, as a share of their number. */
  readonly at: number
  readonly damage: DamageValue
  /** All of the kind instead. */
  readonly isAll: boolean
}

function damaged(
  { entries, rows }: Contents,
  damages: readonly Damage[],
): Pick<Contents, 'entries' | 'rows'> {
  let [changed, changedRows] = [entries, rows]
  for (const { kind, at, damage, isAll } of damages) {
    const values = entries.map(({ value }) => value)
    const chosen = chooser(changed, ({ key }) => key.startsWith(kind), at, isAll)
    changed = changed.map((entry) =>
      chosen.has(entry) ? { ...entry, value: damage.change(entry.value, values) } : entry,
    )
    const beside = rows.map(({ row }) => row.text)
    const chosenRows = chooser(changedRows, ({ journal }) => journal === kind, at, isAll)
    changedRows = changedRows.map((each) =>
      chosenRows.has(each)
        ? { ...each, row: { ...each.row, text: damage.change(each.row.text, beside) } }
        : each,
    )
  }
  return { entries: changed, rows: changedRows }
}

function chooser<Item>(
  items: readonly Item[],
  isOfKind: (item: Item) => boolean,
  at: number,
  isAll: boolean,
): ReadonlySet<Item> {
  const some = items.filter(isOfKind)
  return new Set(isAll ? some : some.slice(Math.floor((some.length * at) / 1_001)).slice(0, 1))
}

async function askEverything(origin: string, conversation: string): Promise<void> {
  const page = { headers: { accept: 'text/html' } }
  const questions: [string, RequestInit][] = [
    ['/', page],
    ['/conversations', {}],
    [`/conversations/${conversation}`, {}],
    [`/conversations/${conversation}`, page],
    ['/models', {}],
    ['/events', {}],
    ['/metrics', {}],
    [`/conversations/${conversation}/compact`, { method: 'POST' }],
    [`/conversations/${conversation}`, { method: 'DELETE' }],
  ]
  for (const [path, init] of questions) {
    const answer = await askAdmin(origin, path, init)
    if (answer.status >= 500) throw new Error(`${path} answers ${answer.status} ${answer.text.slice(0, 300)}`)
  }
}
