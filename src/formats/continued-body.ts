import type { JsonObject } from '../json/json-value.ts'
import type { Dialect } from './contract.ts'

/**
 * A client's own body, as JSON, with other entries, one more tool and these fields beside them, and without what belongs to the
 * client's own answer: asked so, a server reads the conversation from its cache.
 */
export function continuedBody(
  { bodies, summaries }: Dialect,
  body: JsonObject,
  entries: readonly string[],
  tool: JsonObject | null,
  fields: JsonObject,
): string {
  const historyKey = bodies.keys.history
  const { tools } = body
  const around = {
    ...body,
    ...Object.fromEntries([...summaries.ofTheReply].map((name) => [name, undefined])),
    ...(tool === null || !Array.isArray(tools) ? {} : { tools: [...(tools as readonly unknown[]), tool] }),
    ...fields,
    ...summaries.alsoSaid?.(body, fields),
    [historyKey]: undefined,
  }
  return `${JSON.stringify(around).slice(0, -1)},"${historyKey}":[${entries.join(',')}]}`
}
