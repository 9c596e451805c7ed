/** A small tool that no recording has. */
export const ONE_MORE_TOOL = JSON.stringify({
  type: 'function',
  function: {
    name: 'tell_time',
    description: 'Tells the time.',
    parameters: { type: 'object', properties: {} },
  },
})

/** The raw JSON of a list of tools with one more at its end. */
export function withTool(tools: string, tool: string): string {
  const list = tools.slice(1, tools.lastIndexOf(']')).trim()
  return list === '' ? `[${tool}]` : `[${list},${tool}]`
}
