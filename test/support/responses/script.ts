import type { WireItem } from './wire-item.ts'

/** What the Responses upstream answers to a request that it accepts. */
export type ResponsesScript = {
  readonly output: readonly ScriptedItem[]
  /** Default: completed. */
  readonly end?: ScriptedEnd
}

export type ScriptedItem =
  /** Its encrypted content comes from the upstream; `tokens` says how much was thought. Default 200. */
  | { readonly type: 'reasoning'; readonly tokens?: number; readonly summary?: string }
  | { readonly type: 'message'; readonly text: string; readonly phase?: 'commentary' | 'final_answer' }
  | {
      readonly type: 'function_call'
      readonly callId: string
      readonly name: string
      readonly arguments: string
    }
  | {
      readonly type: 'custom_tool_call'
      readonly callId: string
      readonly name: string
      readonly input: string
    }
  /** What stands for the history from then on; its encrypted content comes from the upstream too. */
  | { readonly type: 'compaction' }
  /** Any other, as it is. */
  | { readonly type: 'verbatim'; readonly item: WireItem }

export type ScriptedEnd =
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly reason: 'max_output_tokens' | 'content_filter' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }

export type ItemMaking = {
  readonly idOf: (prefix: string) => string
  readonly sealed: (tokens: number) => string
  readonly status: 'completed' | 'incomplete'
}

/** A scripted item as it stands in the reply. */
export function scriptedItem(scripted: ScriptedItem, { idOf, sealed, status }: ItemMaking): WireItem {
  const { type } = scripted
  if (type === 'verbatim') return scripted.item
  if (type === 'compaction') return { type, id: idOf('cmp'), encrypted_content: sealed(COMPACTION_TOKENS) }
  if (type === 'reasoning') {
    const { tokens = REASONING_TOKENS, summary } = scripted
    const summaries = summary === undefined ? [] : [{ type: 'summary_text', text: summary }]
    return { type, id: idOf('rs'), summary: summaries, encrypted_content: sealed(tokens) }
  }
  if (type === 'message') {
    const { text, phase } = scripted
    const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
    return {
      type,
      id: idOf('msg'),
      status,
      role: 'assistant',
      content,
      ...(phase !== undefined && { phase }),
    }
  }
  const { callId, name } = scripted
  if (type === 'custom_tool_call')
    return { type, id: idOf('ctc'), status, call_id: callId, name, input: scripted.input }
  return { type, id: idOf('fc'), status, call_id: callId, name, arguments: scripted.arguments }
}

// --- internal ---

const REASONING_TOKENS = 200
const COMPACTION_TOKENS = 300
