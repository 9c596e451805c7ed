import * as fc from 'fast-check'
import { conversationOf } from '../../../admin/admin-stand.ts'
import { adminPlace, askAdmin } from '../../../admin/ask-admin.ts'
import { chatOf, postChat, rawMessages } from '../../../support/post-chat.ts'
import { completion, fakeUpstream } from '../../../support/fake-upstream.ts'
import { startFoldgate } from '../../../support/foldgate.ts'
import type { TestMessage } from '../../../support/conversations.ts'
import { encryptedStore } from '../../../../src/stores/encrypted-store.ts'
import { isConversationId } from '../../../../src/conversation/conversation-id.ts'
import { checkRules } from '../check-rewritten.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'
import { damageValue, type DamageValue } from './damaged-value.ts'
import { liveWith, profile, storeWith, STORE_SECRET, type Contents } from './store-life.ts'

/**
 * A store whose contents were damaged: values and journal rows, encrypted ones too. Requests are answered all the same and
 * what is sent obeys the message rules, the admin pages answer, and a conversation can be asked about and deleted.
 */
export const stores: FuzzTarget = {
  name: 'stores',
  share: 3,
  shows: ['compacted'],
  open: async () => {
    const [plain, sealed] = [await liveWith(false), await liveWith(true)]
    const upstream = await fakeUpstream(completion('# Summary\n\nWhat was said before.'))
    return openTarget({
      arbitrary: fc.record({
        isEncrypted: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
        damages: fc.array(
          fc.record({
            kind: fc.constantFrom(...KINDS),
            at: fc.integer({ min: 0, max: 1_000 }),
            damage: damageValue(),
            isAll: fc.boolean(),
          }),
          { minLength: 1, maxLength: 4 },
        ),
      }),
      check: async ({ isEncrypted, damages }): Promise<Fate> => {
        const contents = isEncrypted ? sealed : plain
        const bare = await storeWith(damaged(contents, damages))
        const place = await adminPlace()
        const foldgate = await startFoldgate({
          upstream: upstream.url,
          profile,
          store: isEncrypted ? encryptedStore(bare, STORE_SECRET) : bare,
          flags: place.flags,
        })
        try {
          const more: TestMessage[] = [
            ...contents.messages,
            { role: 'assistant', content: 'fine' },
            { role: 'user', content: 'and now?' },
          ]
          const actions: string[] = []
          for (const messages of [contents.messages, more]) {
            upstream.requests.length = 0
            const reply = await postChat(foldgate.url, chatOf(messages), { 'x-fuzzed': '1' })
            if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text.slice(0, 300)}`)
            const sent = upstream.requests.filter(({ headers }) => headers['x-fuzzed'] === '1')
            const received = rawMessages(sent.at(-1)).map((text): unknown => JSON.parse(text))
            if (received.length === 0) throw new Error('nothing was sent')
            checkRules(messages, received)
            if (!isConversationId(conversationOf(reply)))
              throw new Error(`x-foldgate-conversation: ${conversationOf(reply)}`)
            actions.push(reply.action ?? '')
          }
          await askEverything(place.origin, contents.conversation)
          const failed = foldgate.log.filter((line) => line.includes('"level":"error"'))
          if (failed.length > 0) throw new Error(failed.join('').slice(0, 1_000))
          return `${isEncrypted ? 'encrypted, ' : ''}${actions.at(-1)}`
        } finally {
          await foldgate.close()
        }
      },
      close: () => upstream.close(),
    })
  },
}

// --- internal ---

const KINDS = [
  'compaction:',
  'seen:',
  'name:',
  'learnt:',
  'summary:',
  'ahead:',
  'spent:',
  '',
  'events',
  'usage',
  'totals',
  'wishes',
] as const

type Damage = {
  readonly kind: (typeof KINDS)[number]
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
    const texts = rows.map(({ row }) => row.text)
    const chosenRows = chooser(changedRows, ({ journal }) => journal === kind, at, isAll)
    changedRows = changedRows.map((each) =>
      chosenRows.has(each)
        ? { ...each, row: { ...each.row, text: damage.change(each.row.text, texts) } }
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
