import type { Store } from '../../src/storage/store.ts'
import { chatOf, postChat, type ChatReply } from '../support/post-chat.ts'
import { completion, type FakeUpstream, type Script } from '../support/fake-upstream.ts'
import type { FoldgateOptions, RunningFoldgate } from '../support/foldgate.ts'
import { standWith } from '../support/stand.ts'
import { adminPlace, askAdmin, type AdminAnswer } from './ask-admin.ts'
import { memoryStore } from './memory.ts'

export type AdminStandOptions = Pick<FoldgateOptions, 'profile' | 'profiles' | 'store' | 'nowMs'> & {
  readonly script?: Script
  /** What foldgate.yaml says under `admin`, without the token. */
  readonly admin?: object
  /** What else it says. */
  readonly settings?: object
  /** The address of another stand's upstream, as a replica has it. */
  readonly upstream?: string
  /** The admin token. Default: none. */
  readonly token?: string
}

export type AdminStand = {
  readonly upstream: FakeUpstream
  readonly foldgate: RunningFoldgate
  /** What a client takes as its base URL. */
  readonly url: string
  /** Where the admin listener is, and its port. */
  readonly origin: string
  readonly port: number
  /** The conversations whose deletion got as far as the store. */
  readonly deleted: readonly string[]
  readonly ask: (path: string, init?: RequestInit) => Promise<AdminAnswer>
  /** A short conversation about this; resolves with its id. */
  readonly say: (text: string) => Promise<string>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** A whole Foldgate with its admin listener, in front of an upstream that answers politely. */
export async function adminStand(options: AdminStandOptions = {}): Promise<AdminStand> {
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
    origin: place.origin,
    port: place.port,
    deleted,
    ask: (path, init) => askAdmin(place.origin, path, init),
    say: async (text) => conversationOf(await postChat(stand.url, chatOf([{ role: 'user', content: text }]))),
  }
}

/** The id that an answer names. */
export const conversationOf = (reply: ChatReply): string => reply.header('x-foldgate-conversation') ?? ''
