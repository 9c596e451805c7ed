import { isJsonObject } from '../../conversation/json-value.ts'
import type { RecallTools } from '../contract.ts'

export const responsesRecallTools: RecallTools = {
  tool: ({ name, description, properties }) => ({
    type: 'function',
    name,
    description,
    parameters: { type: 'object', properties },
    // Left out, it would be true, which wants every property to be required.
    strict: false,
  }),

  namesIn: (tools) =>
    tools.flatMap((tool) => {
      if (!isJsonObject(tool)) return []
      const inNamespace = Array.isArray(tool['tools']) ? responsesRecallTools.namesIn(tool['tools']) : []
      return [...(typeof tool['name'] === 'string' ? [tool['name']] : []), ...inNamespace]
    }),
}
