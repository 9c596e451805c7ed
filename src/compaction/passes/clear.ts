import { numberInMark } from '../message-numbers.ts'

/**
 * What stands in the place of a cleared tool result: the tool and the size, so that it can be asked for again, and the
 * name by which it can be read back; null where it cannot.
 */
export function clearedText(toolName: string, sizeTokens: number, number: string | null = null): string {
  const what = toolName === '' ? 'tool result' : `result of ${toolName}`
  return `[cleared: ${what}, ${sizeTokens} tokens${numberInMark(number)}]`
}
