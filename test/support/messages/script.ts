import type { WireBlock } from './wire-block.ts'

/** What the Messages upstream answers to a request that it accepts. */
export type MessagesScript = {
  readonly content: readonly ScriptedBlock[]
  /** Default: `tool_use` where a tool is called, else `end_turn`. */
  readonly stopReason?: string
}

export type ScriptedBlock =
  /** Its signature comes from the upstream. Without a text the signature is all there is of `tokens` of thoughts; default 200. */
  | { readonly type: 'thinking'; readonly tokens?: number; readonly text?: string }
  | { readonly type: 'redacted_thinking'; readonly tokens?: number }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use'
      readonly id: string
      readonly name: string
      readonly input: Readonly<Record<string, unknown>>
    }
  /** What stands for the history from then on; its signature comes from the upstream too. */
  | { readonly type: 'compaction'; readonly text: string }
  /** Any other, as it is. */
  | { readonly type: 'verbatim'; readonly block: WireBlock }

/** Signs what a block shows for so many tokens of thoughts. */
export type Signing = (block: WireBlock, tokens: number) => string

/** A scripted block as it stands in the reply. */
export function scriptedBlock(scripted: ScriptedBlock, sign: Signing): WireBlock {
  const { type } = scripted
  if (type === 'verbatim') return scripted.block
  if (type === 'text') return { type, text: scripted.text }
  if (type === 'tool_use') return { type, id: scripted.id, name: scripted.name, input: scripted.input }
  if (type === 'compaction') {
    const block = { type, content: scripted.text }
    return { ...block, signature: sign(block, SIGNATURE_TOKENS) }
  }
  const { tokens = THINKING_TOKENS } = scripted
  if (type === 'redacted_thinking') return { type, data: sign({ type }, tokens) }
  const { text } = scripted
  const block = { type, thinking: text ?? '' }
  return { ...block, signature: sign(block, text === undefined ? tokens : SIGNATURE_TOKENS) }
}

export function stopReasonOf({ content, stopReason }: MessagesScript): string {
  if (stopReason !== undefined) return stopReason
  if (content.some(({ type }) => type === 'compaction')) return 'compaction'
  return content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
}

// --- internal ---

const THINKING_TOKENS = 200
/** Of a signature that holds no thoughts. */
const SIGNATURE_TOKENS = 40
