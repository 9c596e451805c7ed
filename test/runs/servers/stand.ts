import type { Conversations } from './conversations.ts'
import type { Template } from './models.ts'

/** What every scene is played with. */
export type Stand = {
  /** The interpreter that has a server. llama-cpp-python's may be missing. */
  readonly pythons: { readonly 'llama-cpp': string; readonly 'llama-cpp-python': string | null }
  readonly models: Readonly<Record<Template, string>>
  readonly conversation: Conversations
}
