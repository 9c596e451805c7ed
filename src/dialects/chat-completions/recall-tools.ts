import { isJsonObject } from '../../conversation/json-value.ts'
import type { RecallTools } from '../contract.ts'

export const recallTools: RecallTools = {
  // Without `strict`, which servers want of all tools or of none.
  tool: ({ name, description, properties }) => ({
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties } },
  }),

  namesIn: (tools) =>
    tools.flatMap((tool) => {
      const described = isJsonObject(tool) ? [tool, tool['function'], tool['custom']] : []
      return described.flatMap((each) =>
        isJsonObject(each) && typeof each['name'] === 'string' ? each['name'] : [],
      )
    }),
}
