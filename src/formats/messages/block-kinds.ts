import { isJsonObject, type JsonObject, objectsOf, stringOr } from '../../json/json-value.ts'

/**
 * What a block of a message is, by its type:
 *
 * - `said`: somebody's words, or an image, a document or anything else that a user shows.
 * - `thought`: thinking, which belongs to what the model did next.
 * - `call`, `result`: a call that the client answers, and its answer.
 * - `done`: what the server did in the course of a reply, without the client: a search, a run of code, an MCP call, and what
 *   came of it.
 * - `setting`: tools that are in force from there on.
 * - `start`: the server's own compaction, behind which the history begins anew.
 * - `unknown`: the model's, of a type made up after this was written.
 */
export type BlockKind = 'said' | 'thought' | 'call' | 'result' | 'done' | 'setting' | 'start' | 'unknown'

/** The kind of a parsed block of a message of this role. */
export function blockKindOf(block: JsonObject, role: string): BlockKind {
  const { type } = block
  if (typeof type !== 'string') return 'said'
  if (Object.hasOwn(kinds, type)) return kinds[type] ?? 'unknown'
  if (role !== 'assistant') return 'said'
  // The server's tools, each with a result of its own name: `web_search_tool_result`, `bash_code_execution_tool_result`.
  if (type.endsWith('_tool_result') || type.endsWith('_tool_use')) return 'done'
  return type === 'text' || type === 'image' || type === 'document' ? 'said' : 'unknown'
}

/** Whether what stands in a block holds for all that follows it: tools that a search has found, or that were listed. */
export function holdsTools({ type, name, content }: JsonObject): boolean {
  if (type === 'mcp_tool_listing' || type === 'tool_search_tool_result') return true
  if (type === 'server_tool_use') return typeof name === 'string' && name.startsWith('tool_search_tool')
  return type === 'tool_result' && objectsOf(content).some((part) => part['type'] === 'tool_reference')
}

/** Whether one of the blocks of a system message changes which tools there are from there on. */
export function changesTools(content: unknown): boolean {
  return objectsOf(content).some(({ type }) => type === 'tool_addition' || type === 'tool_removal')
}

/** Whether a system message says how much the model may still use, and nothing else: the next that does takes its place. */
export function tellsRoomLeft({ role, content }: JsonObject): boolean {
  if (role !== 'system') return false
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  const only = parts.length === 1 ? parts[0] : null
  const text = isJsonObject(only) ? only['text'] : content
  return typeof text === 'string' && text.length <= ROOM_CHARACTERS_MAX && roomLeft.test(text)
}

/** Whether thoughts are such as a server has bound to what stood before them, and nobody else can read or sign. */
export function isSigned({ type, signature }: JsonObject): boolean {
  return type === 'redacted_thinking' || (typeof signature === 'string' && signature !== '')
}

/** Where the server's own work says what came of it: in its content, which is a text, a part or parts with texts. */
export const foundTextKeys: ReadonlySet<string> = new Set(['text', 'stdout', 'stderr'])

/** What the server's own work came out as: what was printed, answered and read. */
export function foundTexts({ content }: JsonObject): readonly string[] {
  if (typeof content === 'string') return [content]
  return partsIn(content)
    .flatMap((part) => [...foundTextKeys].map((key) => part[key]))
    .filter((text) => typeof text === 'string')
}

/** The same block without these texts. */
export function withoutFound(block: JsonObject): JsonObject {
  const { content } = block
  if (typeof content === 'string') return { ...block, content: '' }
  return { ...block, content: Array.isArray(content) ? content.map(bare) : bare(content) }
}

/** Characters of what a search has found, and of what code has printed, that only the server can read. */
export function encryptedCharacters({ content }: JsonObject): number {
  const texts = partsIn(content).map((part) => stringOr(part['encrypted_content'], ''))
  return texts.reduce((sum, { length }) => sum + length, 0)
}

// --- internal ---

const kinds: Readonly<Record<string, BlockKind>> = {
  thinking: 'thought',
  redacted_thinking: 'thought',
  tool_use: 'call',
  tool_result: 'result',
  server_tool_use: 'done',
  mcp_tool_use: 'done',
  mcp_tool_result: 'done',
  mcp_tool_listing: 'setting',
  compaction: 'start',
}

/** As Claude Code writes it behind each result. */
const roomLeft = /^<total_tokens>\d+ tokens left<\/total_tokens>$/
const ROOM_CHARACTERS_MAX = 100

function bare(part: unknown): unknown {
  if (!isJsonObject(part)) return part
  return Object.fromEntries(Object.entries(part).filter(([key]) => !foundTextKeys.has(key)))
}

/** The parts of a content, which may be one by itself. */
function partsIn(content: unknown): readonly JsonObject[] {
  return isJsonObject(content) ? [content] : objectsOf(content)
}
