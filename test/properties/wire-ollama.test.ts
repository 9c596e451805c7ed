import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../../src/conversation/message.ts'
import type { BodyEdit, BodyFacts } from '../../src/formats/contract.ts'
import { createFactsReader, parseEntry, readEntries } from '../../src/formats/entry-facts.ts'
import { ollamaChat } from '../../src/formats/ollama/ollama.ts'
import { runAtOnce, type Source } from '../../src/json/source.ts'
import { bytesOf, withEdits } from '../../src/pipeline/send/outgoing-body.ts'
import { bodyLimits } from '../support/body-limits.ts'
import { forAll, propertyRuns } from '../support/property-runs.ts'
import { digest, sourceOf } from '../support/source.ts'
import { isObject } from '../support/strict-upstream/wire-message.ts'
import { anyJson, bodyOf, changedBodies, text, type Json, written } from '../support/written-json.ts'

type Read = { readonly source: Source; readonly facts: BodyFacts; readonly messages: readonly Message[] }

/** Reads a body as the proxy does: the request, then every message. Null where it would be relayed untouched. */
function readWhole(body: Buffer): Read | null {
  const source = sourceOf(body)
  const found = runAtOnce(ollamaChat.bodies.read(source, bodyLimits, null))
  if (!found.read) return null
  const reader = createFactsReader(digest, { entriesMax: 100 })
  const messages = runAtOnce(readEntries(ollamaChat, found.body.entrySpans, source, 'scope', reader))
  return messages === null || messages === 'stateful' ? null : { source, facts: found.body, messages }
}

type Whole = Readonly<Record<string, unknown>> & { readonly messages: readonly Record<string, unknown>[] }

const positive = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null

/** Whatever was read, and whatever is made of it, agrees with JSON.parse of the whole; returns whether it was read. */
function agreesWithJsonParse(body: Buffer): boolean {
  const read = readWhole(body)
  if (read === null || !isUtf8(body)) return false
  const { source, facts, messages } = read
  const whole: Whole = JSON.parse(body.toString())
  const options = isObject(whole['options']) ? whole['options'] : {}
  expect(messages.map(({ start, end }) => JSON.parse(source.text(start, end)))).toEqual(whole.messages)
  expect(facts.model).toBe(typeof whole['model'] === 'string' ? whole['model'] : null)
  expect(facts.isStreamed).toBe(whole['stream'] !== false)
  expect(facts.windowTokens).toBe(positive(options['num_ctx']))
  expect(facts.outputLimit?.tokens ?? null).toBe(positive(options['num_predict']))
  if (facts.withoutStreaming !== null)
    expect(edited(body, facts.withoutStreaming)).toEqual({ ...whole, stream: false })
  if (facts.errorsRequest !== null) {
    const asked = edited(body, [facts.errorsRequest])
    expect(asked).toEqual({ ...whole, truncate: false, shift: false })
  }
  for (const [index, message] of messages.entries())
    agreesInMessage(source, message, whole.messages[index] ?? {})
  return true
}

const edited = (body: Buffer, edits: readonly BodyEdit[]): unknown =>
  JSON.parse(
    bytesOf(body, withEdits({ pieces: [{ start: 0, end: body.length }] }, ...edits).pieces).toString(),
  )

const roles = ['system', 'user', 'assistant', 'tool']

function agreesInMessage(source: Source, message: Message, whole: Record<string, unknown>): void {
  const { facts } = message
  const { role, content, images, tool_calls: calls } = whole
  expect(facts.role).toBe(roles.find((known) => known === role) ?? 'other')
  expect(facts.answers).toEqual(role === 'tool' ? [''] : [])
  const listed: readonly unknown[] = role === 'assistant' && Array.isArray(calls) ? calls : []
  expect(facts.callIds).toEqual(listed.map(() => ''))
  const pictures: readonly unknown[] = Array.isArray(images) ? images : []
  expect(facts.media).toHaveLength(pictures.length)
  const parsed = parseEntry(ollamaChat, source, message)
  expect(parsed.text).toBe(typeof content === 'string' ? content : '')
  const slots = runAtOnce(ollamaChat.entries.slots(source, message, parsed))
  for (const slot of slots) {
    const json = runAtOnce(
      ollamaChat.entries.edited(source, message, new Map([[slot, '{"new":1}']]), Infinity),
    )
    const made = JSON.parse(json)
    if (slot.kind === 'thought') expect(made).toEqual({ ...whole, thinking: '{"new":1}' })
    else if (slot.kind !== 'arguments') expect(made).toEqual({ ...whole, content: '{"new":1}' })
    else expect({ ...made, tool_calls: null }).toEqual({ ...whole, tool_calls: null })
  }
  const bare = runAtOnce(ollamaChat.entries.withoutMedia(source, message, 0, '[image]'))
  expect(bare === null).toBe(pictures.length === 0)
  if (bare === null) return
  const { images: _gone, ...others } = whole
  const said = typeof content === 'string' && content !== '' ? `[image]\n${content}` : '[image]'
  expect(JSON.parse(bare.json)).toEqual({ ...others, content: said })
}

// --- bodies ---

const given: fc.Arbitrary<Json> = fc.oneof(
  fc.array(fc.tuple(text, anyJson), { maxLength: 2 }).map((entries) => ({ entries })),
  anyJson,
)

const call = fc
  .record({ name: text, given })
  .map((made) => written(['function', written(['name', made.name], ['arguments', made.given])]))

const role = fc.constantFrom(...'system user assistant assistant tool critic __proto__'.split(' '))

const messageWith = (content: fc.Arbitrary<Json>, images: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc
    .tuple(role, content, fc.array(call, { maxLength: 2 }), images, text, anyJson)
    .chain(([name, said, calls, pictures, tool, extra]) =>
      fc
        .shuffledSubarray<[Json, Json]>(
          [
            ['role', name],
            ['content', said],
            ['thinking', tool],
            ['tool_calls', calls],
            ['images', pictures],
            ['tool_name', tool],
            ['__proto__', extra],
          ],
          { minLength: 1 },
        )
        .map((entries): Json => ({
          entries: entries.some(([key]) => key === 'role') ? entries : [...entries, ['role', name]],
        })),
    )

const pictures = fc.oneof(fc.constant(null), fc.array(text, { maxLength: 3 }))
const usual = messageWith(fc.oneof(text, fc.constant(null)), pictures)
const odd = messageWith(fc.oneof(text, anyJson), fc.oneof(pictures, anyJson))

const number: fc.Arbitrary<Json> = fc.oneof(fc.nat(9_999), anyJson)
const around = fc
  .record({ window: number, limit: number, stream: anyJson, truncate: anyJson })
  .chain(({ window, limit, stream, truncate }) =>
    fc.shuffledSubarray<[Json, Json]>([
      ['options', written(['num_predict', limit], ['num_ctx', window])],
      ['stream', stream],
      ['truncate', truncate],
    ]),
  )

const usualBody = bodyOf(fc.array(usual, { minLength: 1, maxLength: 4 }), around)
const oddBody = bodyOf(fc.oneof(fc.array(fc.oneof(odd, anyJson), { maxLength: 4 }), anyJson), around)

// --- properties ---

/** Compares `count` bodies with JSON.parse; tells of each whether it was read. */
function collectRead(bodies: fc.Arbitrary<Buffer>, count: number): readonly boolean[] {
  const read: boolean[] = []
  forAll(count, bodies, (body) => void read.push(agreesWithJsonParse(body)))
  return read
}

test('whatever is read of a chat with Ollama is what JSON.parse reads, and whatever is made of it', () => {
  const read = collectRead(usualBody, 400)
  expect(read.filter(Boolean).length).toBeGreaterThan(propertyRuns(200))
})

test('the same holds where messages are anything at all', () => {
  expect(new Set(collectRead(oddBody, 400)).size).toBe(2)
})

test('bytes that were changed at random are read as JSON.parse reads them, or not at all', () => {
  expect(new Set(collectRead(changedBodies(usualBody), 1_000)).size).toBe(2)
})
