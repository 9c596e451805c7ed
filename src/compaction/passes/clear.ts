/** What stands in the place of a cleared tool result: the tool and the size, so that it can be asked for again. */
export function clearedText(toolName: string, sizeTokens: number): string {
  const what = toolName === '' ? 'tool result' : `result of ${toolName}`
  return `[cleared: ${what}, ${sizeTokens} tokens]`
}
