import type { Store } from '../../src/storage/store.ts'
import { chatOf, postChat, type ChatReply } from '../support/post-chat.ts'
import { completion, type Script } from '../support/fake-upstream.ts'
import type { FoldgateOptions } from '../support/foldgate.ts'
import { standWith } from '../support/stand.ts'
import { adminPlace, askAdmin } from './ask-admin.ts'
import { memoryStore } from './memory.ts'

export type AdminStandOptions = Pick<FoldgateOptions, 'profile' | 'profiles' | 'store' | 'nowMs'> & {
  readonly script?: Script
  /** What foldgate.yaml says under `admin`, without the token. */
  readonly admin?: object
  /** What else it says. */
  readonly settings?: object
  /** The admin token. Default: none. */
  readonly token?: string
}

export type AdminStand = Awaited<ReturnType<typeof adminStand>>

/** A whole Foldgate with its admin listener, in front of an upstream that answers politely. */
export async function adminStand(options: AdminStandOptions = {}) {
  const { script = completion('fine'), admin = {}, settings = {}, token, ...more } = options
  const place = await adminPlace()
  const deleted: string[] = []
  const inner = options.store ?? memoryStore()
  const store: Store = {
    ...inner,
    deleteGroup: (group) => {
      deleted.push(group)
      return inner.deleteGroup(group)
    },
  }
  const stand = await standWith(script, {
    ...more,
    store,
    flags: place.flags,
    settings: { ...settings, admin: { ...admin, ...(token !== undefined && { token_env: 'ADMIN_TOKEN' }) } },
    env: token === undefined ? {} : { ADMIN_TOKEN: token },
  })
  return {
    ...stand,
    /** Where the admin listener is, and its port. */
    origin: place.origin,
    port: place.port,
    /** The conversations whose deletion got as far as the store. */
    deleted,
    ask: (path: string, init?: RequestInit) => askAdmin(place.origin, path, init),
    /** A short conversation about this; resolves with its id. */
    say: async (text: string) =>
      conversationOf(await postChat(stand.url, chatOf([{ role: 'user', content: text }]))),
  }
}

/** The id that an answer names. */
export const conversationOf = (reply: ChatReply): string => reply.header('x-foldgate-conversation') ?? ''
