import { expect } from 'vitest'
import type { StreamEvent } from '../../../../src/formats/answer-contract.ts'
import {
  isJsonObject,
  type JsonObject,
  objectsOf,
  parseJsonText,
  stringOr,
} from '../../../../src/json/json-value.ts'

/** A plain answer, as Ollama writes one. */
export const plainAnswer = (message: object, reason: string, counts: object = {}) => ({
  model: 'm',
  created_at: '2026-11-29T12:00:00Z',
  message: { role: 'assistant', ...message },
  done: true,
  done_reason: reason,
  total_duration: 9,
  load_duration: 1,
  ...counts,
})

/** The lines of a stream, each with what is said in it, and the last one. */
export const streamOf = (messages: readonly object[], counts: object = {}, reason = 'stop') => [
  ...messages.map(
    (message) =>
      `${JSON.stringify({ model: 'm', created_at: '2026-11-29T12:00:00Z', message: { role: 'assistant', content: '', ...message }, done: false })}\n`,
  ),
  `${JSON.stringify(plainAnswer({ content: '' }, reason, counts))}\n`,
]

/** What a strict client makes of the lines of a stream: one message of all, and what the last line says. */
export function readStrictly(out: readonly (StreamEvent | string)[]): JsonObject {
  const whole = out.map((line) => (typeof line === 'string' ? line : line.text)).join('')
  expect(whole.endsWith('\n')).toBe(true)
  const lines = whole.trimEnd().split('\n').map(lineIn)
  expect(lines.map(({ done }) => done)).toEqual([...lines.slice(1).map(() => false), true])
  const messages = lines.map(({ message }) => (isJsonObject(message) ? message : expect.fail('no message')))
  expect(new Set(messages.map(({ role }) => role))).toEqual(new Set(['assistant']))
  const said = (key: string) => messages.map((message) => stringOr(message[key], '')).join('')
  const calls = messages.flatMap(({ tool_calls: list }) => objectsOf(list))
  const thinking = said('thinking')
  const message = {
    role: 'assistant',
    content: said('content'),
    ...(thinking === '' ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  return { ...lines.at(-1), message }
}

function lineIn(text: string): JsonObject {
  const json = parseJsonText(text)
  return isJsonObject(json) ? json : expect.fail(`no line of JSON: ${text}`)
}
