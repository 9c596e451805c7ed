import { textOf } from '../../support/strict-upstream/wire-message.ts'
import { rawMessage, type RawMessage } from '../harness/recordings.ts'

/** A token a word and four a message serve for a judge. */
export const countWords = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length

export function sizeInWords({ message }: RawMessage): number {
  const calls = message['tool_calls'] === undefined ? '' : JSON.stringify(message['tool_calls'])
  return 4 + countWords(`${textOf(message['content'])} ${calls}`)
}

/** So many different words. */
export const wordsNamed = (name: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${name}${index}`).join(' ')

export const said = (role: string, content: string): RawMessage =>
  rawMessage(JSON.stringify({ role, content }))

export function calling(...ids: readonly string[]): RawMessage {
  const calls = ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } }))
  return rawMessage(JSON.stringify({ role: 'assistant', content: null, tool_calls: calls }))
}

export const result = (id: string, content: string): RawMessage =>
  rawMessage(JSON.stringify({ role: 'tool', tool_call_id: id, content }))

/** A text of which this many words of either end are left around a mark. */
export function clipped(text: string, words: number): string {
  const all = text.split(' ')
  return `${all.slice(0, words).join(' ')} [clipped] ${all.slice(-words).join(' ')}`
}
