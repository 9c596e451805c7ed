import { chatCompletions } from '../../src/formats/chat/chat.ts'
import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readBody } from '../../src/formats/body-members.ts'
import { createFactsReader } from '../../src/formats/entry-facts.ts'
import type { Message } from '../../src/conversation/message.ts'
import { parseMessage, readMessages } from '../support/chat-completions.ts'
import { runAtOnce } from '../../src/json/source.ts'
import type { BodyFacts } from '../../src/formats/contract.ts'
import { bodyLimits } from '../support/body-limits.ts'
import { digest, sourceOf } from '../support/source.ts'
import { forAll, propertyRuns } from '../support/property-runs.ts'
import { times } from '../support/times.ts'
import {
  anyJson,
  bodyOf,
  changedBodies,
  text,
  type Json,
  written,
  writeString,
} from '../support/written-json.ts'

/** Reads a body as the proxy does: the request, then every message. Null where it would be relayed untouched. */
function readWhole(body: Buffer): { request: BodyFacts; messages: readonly Message[] } | null {
  const source = sourceOf(body)
  const result = runAtOnce(readBody(chatCompletions.bodies, source, bodyLimits, null))
  if (typeof result === 'string') return null
  const reader = createFactsReader(digest, { entriesMax: 100 })
  const messages = runAtOnce(readMessages(result.entrySpans, source, 'scope', reader))
  if (messages === null) return null
  for (const message of messages) parseMessage(source, message)
  return { request: result, messages }
}

type AnyMessage = {
  content?: unknown
  role?: unknown
  tool_call_id?: unknown
  tool_calls?: { id?: unknown }[]
}

const bytesAt = (body: Buffer, { start, end }: { start: number; end: number }): unknown =>
  JSON.parse(body.subarray(start, end).toString())

/** Whatever was read agrees with JSON.parse of the whole; returns whether it was read. */
function agreesWithJsonParse(body: Buffer): boolean {
  const read = readWhole(body)
  // A body that is no UTF-8 never gets here: the rim relays it.
  if (read === null || !isUtf8(body)) return false
  const whole: { messages: AnyMessage[]; model?: unknown; tools?: unknown } = JSON.parse(body.toString())
  const { request, messages } = read
  expect(bytesAt(body, request.history)).toEqual(whole.messages)
  expect(messages.map((message) => bytesAt(body, message))).toEqual(whole.messages)
  expect(request.model).toBe(typeof whole.model === 'string' ? whole.model : null)
  expect(request.tools === null ? null : bytesAt(body, request.tools)).toEqual(
    Array.isArray(whole.tools) ? whole.tools : null,
  )
  const known = new Set(['system', 'developer', 'user', 'assistant', 'tool'])
  for (const [index, { facts }] of messages.entries()) {
    const message = whole.messages[index] ?? {}
    const role = message.role === 'function' ? 'tool' : message.role
    expect(facts.role).toBe(known.has(String(role)) ? role : 'other')
    expect(facts.answers).toEqual(role === 'tool' ? [idOf(message.tool_call_id, '')] : [])
    const ids = Array.isArray(message.tool_calls) ? message.tool_calls.map((call) => idOf(call?.id, '')) : []
    expect(facts.callIds).toEqual(role === 'assistant' ? ids : [])
  }
  return true
}

const idOf = (id: unknown, otherwise: string): string => (typeof id === 'string' ? id : otherwise)

// --- bodies ---

const id = fc.constantFrom<Json>('call_1', 'call_2', '', null, 7)

const call = fc
  .record({ id, input: text })
  .map((made) => written(['id', made.id], ['function', written(['arguments', made.input])]))

const role = fc.constantFrom(...'system developer user assistant tool function critic __proto__'.split(' '))

const part: fc.Arbitrary<Json> = fc.oneof(
  anyJson,
  text.map((value) => written(['type', 'text'], ['text', value])),
  text.map((value) => written(['type', 'image_url'], ['image_url', written(['url', value])])),
)

const message: fc.Arbitrary<Json> = fc
  .tuple(
    role,
    fc.oneof(text, fc.array(part, { maxLength: 3 }), anyJson),
    fc.array(call, { maxLength: 2 }),
    id,
    anyJson,
  )
  .chain(([name, content, calls, answers, extra]) =>
    fc
      .shuffledSubarray<[Json, Json]>(
        [
          ['content', content],
          ['tool_calls', calls],
          ['tool_call_id', answers],
          ['__proto__', extra],
          ['name', answers],
        ],
        { minLength: 1 },
      )
      .map((entries): Json => ({ entries: [['role', name], ...entries] })),
  )

const usualBody = bodyOf(fc.array(message, { minLength: 1, maxLength: 4 }))
const oddBody = bodyOf(fc.oneof(fc.array(fc.oneof(message, anyJson), { maxLength: 4 }), anyJson))

// --- properties ---

/** Compares `count` bodies with JSON.parse; tells of each whether it was read. */
function collectRead(bodies: fc.Arbitrary<Buffer>, count: number): readonly boolean[] {
  const read: boolean[] = []
  forAll(count, bodies, (body) => void read.push(agreesWithJsonParse(body)))
  return read
}

test('whatever is read of a body is what JSON.parse reads', () => {
  const read = collectRead(usualBody, 400)
  expect(read.filter(Boolean).length).toBeGreaterThan(propertyRuns(200))
})

test('the same holds where messages are anything at all', () => {
  expect(collectRead(oddBody, 400)).toContain(false)
})

test('a body that ends early is not read, wherever it ends', () => {
  forAll(15, usualBody, (body) => {
    for (let length = 0; length < body.length; length += 1) {
      const isWhole = body.subarray(length).toString().trim() === ''
      expect(isWhole || readWhole(body.subarray(0, length)) === null).toBe(true)
    }
  })
})

test('bytes that were changed at random are read as JSON.parse reads them, or not at all', () => {
  const changedBody = changedBodies(usualBody)
  expect(new Set(collectRead(changedBody, 1_500)).size).toBe(2)
})

test('a body with a key twice is not read, however the key is spelt', () => {
  const keys = fc.constantFrom('messages', 'model', 'tools', 'user')
  const spelling = fc.infiniteStream(fc.nat(6))
  forAll(100, keys, spelling, spelling, (key, one, other) => {
    const names = [one, other].map((numbers) => writeString(key, () => numbers.next().value ?? 0))
    const fields = names.map((name) => `${name}:[{"role":"user"}]`).join(',')
    const rest = key === 'messages' ? '' : ',"messages":[{"role":"user"}]'
    const body = Buffer.from(`{${fields}${rest}}`)
    expect(runAtOnce(readBody(chatCompletions.bodies, sourceOf(body), bodyLimits, null))).toBe(
      'duplicate-key',
    )
  })
})

test('messages behind four megabytes of tools are found', () => {
  const tool = { type: 'function', function: { name: 'x', description: '"messages":[{]'.repeat(100) } }
  const tools = JSON.stringify(times(2_500, () => tool))
  expect(tools.length).toBeGreaterThan(4_000_000)
  const body = Buffer.from(`{"tools":${tools},"messages":[{"role":"user","content":"hi"}]}`)
  expect(readWhole(body)?.messages).toHaveLength(1)
})

const deep = 100_000
const [opened, closed] = ['['.repeat(deep), ']'.repeat(deep)]
const saying = (content: string) => `{"messages":[{"role":"user",${content}}]}`

test.each([
  ['in a field', `{"x":${opened}${closed},"messages":[{"role":"user","content":"hi"}]}`],
  ['in a message', saying(`"content":${opened}${closed}`)],
  ['in an unknown field of a message', saying(`"x":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`)],
  ['as messages', `{"messages":${opened}${closed}}`],
  ['unclosed', `{"messages":[{"role":"user","content":${opened}`],
  ['closed wrongly', saying(`"content":${opened}${'}'.repeat(deep)}`)],
])('nesting of any depth is no danger: %s', (_, body) => {
  expect(readWhole(Buffer.from(body)) === null || parses(body)).toBe(true)
})

function parses(body: string): boolean {
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}
