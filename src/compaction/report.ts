import type { PassName } from './policy.ts'

/** What became of one message: of the client's, or of one that Foldgate wrote. */
export type MessageTreatment = {
  /** Its place in the client's conversation; null for a summary or a recap. */
  readonly index: number | null
  readonly role: string
  /** The tool whose result it is or which it calls first; null where it has to do with none. */
  readonly tool: string | null
  /**
   * `folded`: a summary or recap stands for it. `dropped`: nothing does, there was no room. `joined`: its text stands in
   * the user message before it.
   */
  readonly treatment:
    | 'kept'
    | 'rendered'
    | 'previewed'
    | 'cleared'
    | 'unloaded'
    | 'clipped'
    | 'folded'
    | 'dropped'
    | 'joined'
    | 'summary'
    | 'recap'
  /** Why it stays word for word; null where nothing pins it. */
  readonly pinned: 'system' | 'task' | 'latest-user' | 'kept-turn' | 'recent' | null
  /** Own count as it came, framing included; 0 for a summary or a recap, null where nothing was counted. */
  readonly receivedTokens: number | null
  /** Own count as it is sent; 0 where it is not sent, null where nothing was counted. */
  readonly sentTokens: number | null
  /** The messages that a summary or recap stands for, from `start` up to `end`; null for all others. */
  readonly standsFor: { readonly start: number; readonly end: number } | null
}

/** How far a pass reaches: what it treats lies from `start` up to `end`. */
export type PassRange = { readonly pass: PassName; readonly start: number; readonly end: number }
