import { isJsonObject } from '../../conversation/json-value.ts'
import type { RecallTools } from '../contract.ts'

export const messagesRecallTools: RecallTools = {
  tool: ({ name, description, properties }) => ({
    name,
    description,
    input_schema: { type: 'object', properties },
  }),

  namesIn: (tools) =>
    tools.flatMap((tool) => (isJsonObject(tool) && typeof tool['name'] === 'string' ? [tool['name']] : [])),
}
