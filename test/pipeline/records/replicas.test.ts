import { describe, expect, test } from 'vitest'
import { keptOpen } from '../summaries/summary-stand.ts'
import { adminPlace, askAdmin } from '../../admin/ask-admin.ts'
import { memoryStore } from '../../admin/memory.ts'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { completion, fakeUpstream } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'

// One replica had looked into a small request; another compacted a conversation of that key. The first went on to send it
// whole, for as long as its copy of what stood in the store was old; or asked the upstream twice, once for nothing.

const run = longRun(14, 3)
const roomy = { window: { tokens: 100_000 } }

/** Foldgates that share a store and an upstream, each with an admin listener. */
async function replicas(count: number) {
  const upstream = await fakeUpstream(completion('fine'))
  const store = memoryStore()
  const started = await Promise.all(
    Array.from({ length: count }, async () => {
      const { flags, origin } = await adminPlace()
      const foldgate = await startFoldgate({
        upstream: upstream.url,
        profile: roomy,
        store: keptOpen(store),
        flags,
      })
      return { foldgate, origin }
    }),
  )
  const at = (index: number) => started[index % count] ?? expect.fail()
  return {
    upstream,
    say: (index: number, body: object | string, headers: Readonly<Record<string, string>> = {}) =>
      postChat(at(index).foldgate.url, body, headers),
    wish: (index: number, id: string) =>
      askAdmin(at(index).origin, `/conversations/${id}/compact`, { method: 'POST' }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(started.map(({ foldgate }) => foldgate.close()))
      await upstream.close()
    },
  }
}

/** The same conversation as other clients write it. */
const spellings: readonly (readonly [string, (messages: readonly TestMessage[]) => string])[] = [
  ['as it was', (messages) => JSON.stringify(chatOf(messages))],
  [
    'with letters escaped',
    (messages) => {
      const written = JSON.stringify(chatOf(messages))
      return written.replaceAll(/(?<="content":")[A-Z]/g, (letter) => {
        return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
      })
    },
  ],
  [
    'with fields that mean nothing, and far more bytes',
    (messages) =>
      JSON.stringify(
        chatOf(
          messages.map((message) =>
            message.role === 'user' ? { ...message, x_client: 'y'.repeat(12_000) } : message,
          ),
        ),
      ),
  ],
]

/** What messages say, however they are written. */
const said = (request: { readonly body: Buffer } | undefined) =>
  rawMessages(request).map((raw) => {
    const { role, content }: { role: string; content: unknown } = JSON.parse(raw)
    return { role, content }
  })

describe.each([2, 3])('with %i replicas on one store', (count) => {
  test.each(spellings)(
    'a conversation that one has compacted stands so at all others: %s',
    async (_, written) => {
      await using at = await replicas(count)
      for (let index = 0; index < count; index += 1)
        await at.say(index, chatOf([{ role: 'user', content: `Ask ${index}.` }]))
      const compacted = await at.say(1, chatOf(run.slice(0, -4)), { 'x-foldgate-compact': 'force' })
      expect(compacted.action).toBe('compacted')
      let asked = count + 1
      expect(at.upstream.requests).toHaveLength(asked)
      const sent = said(at.upstream.requests.at(-1))
      expect(sent).not.toEqual(said({ body: Buffer.from(JSON.stringify(chatOf(run.slice(0, -4)))) }))
      for (let turn = 0; turn < 2 * count; turn += 1) {
        const reply = await at.say(turn, written(run.slice(0, turn < count ? -2 : undefined)))
        expect(reply.action).toBe('compacted')
        expect(at.upstream.requests).toHaveLength((asked += 1))
        expect(said(at.upstream.requests.at(-1)).slice(0, sent.length)).toEqual(sent)
      }
    },
  )

  test('what an operator asks of one is done by whichever gets the next request', async () => {
    await using at = await replicas(count)
    for (let round = 0; round < count; round += 1) {
      const messages = [{ role: 'user', content: `Round ${round}.` }, ...run.slice(1, -2)]
      const first = await at.say(round, chatOf(messages))
      expect(first.action).toBe('relayed')
      await at.wish(round, String(first.header('x-foldgate-conversation')))
      const next = await at.say(
        round + 1,
        chatOf([{ role: 'user', content: `Round ${round}.` }, ...run.slice(1)]),
      )
      expect(next.action).toBe('compacted')
      const again = await at.say(
        round,
        chatOf([{ role: 'user', content: `Round ${round}.` }, ...run.slice(1)]),
      )
      expect(again.action).toBe('compacted')
      const [one, other] = [at.upstream.requests.at(-2), at.upstream.requests.at(-1)]
      expect(rawMessages(other)).toEqual(rawMessages(one))
      expect(at.upstream.requests).toHaveLength(3 * (round + 1))
    }
  })
})

const upTo = (end: number, model: string) => ({ ...chatOf(run.slice(0, end)), model })

// The latest request of a conversation was the other model's, and named the one compaction that it had stood in itself.
test('a conversation that two models answer by turns keeps to each the view that it has had', async () => {
  await using at = await replicas(2)
  const models = ['one-model', 'another-model']
  const sent: (ReturnType<typeof said> | null)[] = [null, null]
  for (const [turn, end] of [-12, -10, -8, -6, -4, -2].entries()) {
    const which = turn % 2
    // The one is compacted once, at its first request; the other never.
    const headers = turn === 0 ? { 'x-foldgate-compact': 'force' } : undefined
    const reply = await at.say(turn >> 1, upTo(run.length + end, models[which] ?? ''), headers)
    expect(reply.action).toBe(which === 0 ? 'compacted' : 'relayed')
    const now = said(at.upstream.requests.at(-1))
    const before = sent[which] ?? null
    if (before !== null) expect(now.slice(0, before.length)).toEqual(before)
    sent[which] = now
  }
})
