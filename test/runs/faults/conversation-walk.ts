import { expect } from 'vitest'
import { askAdmin } from '../../admin/ask-admin.ts'
import { rawMessages } from '../../support/post-chat.ts'
import { eventually } from '../../support/eventually.ts'
import type { FakeUpstream } from '../../support/fake-upstream.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import type { Row } from './fault.ts'
import { ask } from './wire/ask.ts'
import { grownBy, nextRequest } from './wire/requests.ts'

/** A request of a conversation that stands compacted: what it goes by, and what the upstream received of it. */
export type Sent = { readonly conversation: string; readonly view: readonly string[] }

/** The conversation after so many exchanges. Fails unless the client has its answer and its latest message arrived. */
export async function send(
  url: string,
  upstream: FakeUpstream,
  exchanges: number,
  seed?: number,
): Promise<Sent> {
  const request = grownBy(exchanges, seed)
  const before = upstream.requests.length
  const seen = await ask(url, request)
  expect([seen.status, seen.isWhole, seen.body.includes('Understood.')]).toEqual([200, true, true])
  expect(seen.header('x-foldgate-action')).toBe('compacted')
  const messages = rawMessages(request)
  // Several conversations may go on at a time, each with a task of its own.
  const arrived = upstream.requests.slice(before).map(rawMessages)
  const view = arrived.find((received) => received[1] === messages[1] && received.at(-1) === messages.at(-1))
  if (view === undefined) throw new Error('The latest message did not arrive.')
  return { conversation: seen.header('x-foldgate-conversation') ?? '', view }
}

/** Another conversation's request works; resolves with what that one goes by. */
export async function conversationOfNext(url: string): Promise<string> {
  const seen = await ask(url, nextRequest)
  expect([seen.status, seen.isWhole]).toEqual([200, true])
  return seen.header('x-foldgate-conversation') ?? ''
}

/** A store that failed is left alone for a while: until it has taken a row again. */
export const untilUsed = (url: string, adminOrigin: string): Promise<void> =>
  eventually(
    async () => {
      const conversation = await conversationOfNext(url)
      await askAdmin(adminOrigin, `/conversations/${conversation}/compact`, { method: 'POST' })
      expect((await askAdmin(adminOrigin, '/events?limit=1')).text).toContain('compact-requested')
    },
    { timeout: 25_000, interval: 200 },
  )

/**
 * What Foldgate no longer knew of a conversation as it went on. Of the client's nothing can be lost here: every request
 * had its answer. A store that has failed is left alone for a while, and how long is chance (`mayMissId`): a request by
 * then may go by an id of its own.
 */
export function lostOf(first: Sent, later: readonly Sent[], mayMissId = false): string {
  const isRenamed = later.some(({ conversation }) => conversation !== first.conversation)
  const isChanged = later.some(({ view }) => !isBeginning(first.view, view))
  const parts = [
    ...(mayMissId ? ["at most the conversation's id"] : isRenamed ? ["the conversation's id"] : []),
    ...(isChanged ? ["a hit of the provider's cache"] : []),
  ]
  return parts.length === 0 ? 'nothing' : `${parts.join(', ')}; nothing of the client's`
}

/** Every request was answered. */
export const compactedRow = (recorded: string, lost: string, met = 'compacted'): Row => ({
  met,
  seen: '`200`',
  recorded,
  lost,
})
