import type { IncomingHttpHeaders } from 'node:http'
import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import { systemBreak } from './block-shapes.ts'
import type { WireBlock } from './wire-block.ts'

export const BINDING_BETA = 'thinking-binding-controls-2026-08-01'

/** What a client asks to try. */
export function betasOf(headers: IncomingHttpHeaders): ReadonlySet<string> {
  const stated = headers['anthropic-beta']
  const values = typeof stated === 'string' ? [stated] : (stated ?? [])
  return new Set(values.flatMap((value) => value.split(',')).map((value) => value.trim()))
}

/** What is wrong with the headers and with the members around the messages; null if nothing is. */
export function fieldProblem(body: WireBlock, headers: IncomingHttpHeaders): string | null {
  if (textOf(headers['anthropic-version']) === '') return 'anthropic-version: header is required'
  const betas = betasOf(headers)
  const unknown = Object.keys(body).find((name) => !isTaken(name, betas))
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`
  const lacking = ['model', 'messages', 'max_tokens'].find((name) => body[name] === undefined)
  if (lacking !== undefined) return `${lacking}: Field required`
  const { messages, max_tokens: limit } = body
  if (!Array.isArray(messages)) return 'messages: Input should be a valid list'
  if (messages.length === 0) return 'messages: at least one message is required'
  if (typeof limit !== 'number' || limit < 0) return 'max_tokens: Input should be greater than or equal to 0'
  return systemBreak(body['system']) ?? toolsProblem(body['tools']) ?? thinkingProblem(body, betas)
}

/** What to do with thinking that is bound to another conversation, where the request says so. */
export function mismatchBehaviorOf(body: WireBlock): 'error' | 'drop_block' | null {
  const { thinking } = body
  const binding = isObject(thinking) ? thinking['block_binding'] : null
  const behavior = isObject(binding) ? binding['prefix_mismatch_behavior'] : null
  return behavior === 'error' || behavior === 'drop_block' ? behavior : null
}

/** Thinking with a budget, as older models have it. */
export function thinksManually(body: WireBlock): boolean {
  const { thinking } = body
  return isObject(thinking) && thinking['type'] === 'enabled'
}

// --- internal ---

const known = new Set(
  (
    'model max_tokens messages system tools tool_choice thinking output_config stream stop_sequences metadata ' +
    'cache_control container mcp_servers diagnostics fallbacks service_tier speed inference_geo temperature top_p top_k'
  ).split(' '),
)

/** Members that are known only to those who ask to try them. */
const tried: Readonly<Record<string, readonly string[]>> = {
  context_management: ['context-management-2025-06-27', 'compact-2026-01-12'],
  compaction: ['compact-2026-09-04'],
  thread: ['message-threads-2026-08-12'],
}

function isTaken(name: string, betas: ReadonlySet<string>): boolean {
  return known.has(name) || tried[name]?.some((beta) => betas.has(beta)) === true
}

function toolsProblem(tools: unknown): string | null {
  if (tools === undefined) return null
  if (!Array.isArray(tools)) return 'tools: Input should be a valid list'
  const names = new Set<string>()
  for (const [index, tool] of (tools as readonly unknown[]).entries()) {
    if (!isObject(tool)) return `tools.${index}: Input should be an object`
    const name = textOf(tool['name'])
    const isCustom = tool['type'] === undefined || tool['type'] === 'custom'
    if (isCustom && name === '') return `tools.${index}.custom.name: Field required`
    if (isCustom && !isObject(tool['input_schema']))
      return `tools.${index}.custom.input_schema: Field required`
    if (name !== '' && names.has(name)) return 'tools: Tool names must be unique.'
    names.add(name)
  }
  return null
}

function thinkingProblem({ thinking }: WireBlock, betas: ReadonlySet<string>): string | null {
  if (!isObject(thinking) || thinking['block_binding'] === undefined || betas.has(BINDING_BETA)) return null
  return `thinking.${textOf(thinking['type'])}.block_binding: Extra inputs are not permitted`
}
