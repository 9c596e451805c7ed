import type { JsonObject } from '../json/json-value.ts'

/**
 * A client's own body, as JSON, with other entries under the key of its history, one more tool and these fields, and without
 * what says what the client's own reply is to be.
 */
export function continuedBody(
  body: JsonObject,
  historyKey: string,
  entries: readonly string[],
  tool: JsonObject | null,
  fields: JsonObject,
  ofTheReply: readonly string[],
): string {
  const { tools } = body
  const around = {
    ...body,
    ...Object.fromEntries(ofTheReply.map((name) => [name, undefined])),
    ...(tool === null || !Array.isArray(tools) ? {} : { tools: [...(tools as readonly unknown[]), tool] }),
    ...fields,
    [historyKey]: undefined,
  }
  return `${JSON.stringify(around).slice(0, -1)},"${historyKey}":[${entries.join(',')}]}`
}
