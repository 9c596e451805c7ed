import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scanBody } from '../../src/json/body-scan.ts'
import { createFactsReader } from '../../src/formats/entry-facts.ts'
import type { Message } from '../../src/conversation/message.ts'
import { parseMessage, readMessages } from '../support/chat-completions.ts'
import { readable, restored } from '../../src/formats/shortened-message.ts'
import { runAtOnce, type Source } from '../../src/json/source.ts'
import { READ_BYTES_MAX } from '../../src/json/skipped-text.ts'
import { bodyLimits } from '../support/body-limits.ts'
import { digest, sourceOf } from '../support/source.ts'
import { forAll } from '../support/property-runs.ts'

/** A conversation of one message, read as the proxy reads it; null where it cannot be. */
function read(json: string): { readonly source: Source; readonly message: Message } | null {
  const source = sourceOf(`{"messages":[${json}]}`)
  const scan = runAtOnce(scanBody(source, { history: 'messages', content: null }, null, bodyLimits))
  if (typeof scan === 'string') throw new Error(scan)
  const reader = createFactsReader(digest, { entriesMax: 16 })
  const [message] = runAtOnce(readMessages(scan.history ?? [], source, 'scope', reader)) ?? []
  return message === undefined ? null : { source, message }
}

const readOf = (message: object): { readonly source: Source; readonly message: Message } =>
  read(JSON.stringify(message)) ?? expect.fail('it was not read')

const huge = 2 * READ_BYTES_MAX

describe('a message of more than a megabyte is not read as a whole', () => {
  test('its text is read from its head and its tail, and what it says of the rest is how much that is', () => {
    const { source, message } = readOf({ role: 'tool', content: `first ${'x'.repeat(huge)} last` })
    const { text } = parseMessage(source, message)
    expect(text).toMatch(/^first x+ \[… \d+ bytes not read \(\d+\) …\] x+ last$/)
    expect(Math.abs(text.length - READ_BYTES_MAX)).toBeLessThan(1_000)
    const unread = message.facts.skipped ?? []
    expect(unread.map(({ isText }) => isText)).toEqual([true])
    const readBytes = Buffer.byteLength(text) - Buffer.byteLength(text.match(/ \[….*…\] /)?.[0] ?? '')
    expect(readBytes + unread.reduce((sum, { start, end }) => sum + end - start, 0)).toBe(huge + 11)
  })

  test('what is short beside it is read whole', () => {
    const { source, message } = readOf({
      role: 'assistant',
      reasoning_content: 'r'.repeat(huge),
      content: 'What I say.',
      tool_calls: [{ id: 'a', function: { name: 'look', arguments: '{"x":1}' } }],
    })
    expect(parseMessage(source, message)).toMatchObject({ text: 'What I say.', calls: [{ name: 'look' }] })
    expect(message.facts.callIds).toEqual(['a'])
  })

  test('two that differ in what is not read are two', () => {
    const texts = ['a', 'b'].map((letter) => `${'x'.repeat(huge / 2)}${letter}${'x'.repeat(huge / 2)}`)
    const [one, other] = texts.map((content) => readOf({ role: 'user', content }).message.facts)
    expect(one?.meaning).not.toBe(other?.meaning)
  })

  test('an image weighs what it is, though its middle is not read', () => {
    const url = `data:image/png;base64,${'A'.repeat(huge)}`
    const content = [
      { type: 'text', text: 'Look.' },
      { type: 'image_url', image_url: { url } },
    ]
    const { message } = readOf({ role: 'user', content })
    expect(message.facts.media).toMatchObject([{ kind: 'image', place: 'inline' }])
    const bytes = message.facts.media[0]?.dataBytes ?? 0
    expect(Math.abs(bytes - 1.5 * READ_BYTES_MAX)).toBeLessThan(100)
    expect(message.facts.skipped?.map(({ isText }) => isText)).toEqual([false])
  })

  test('many texts that are too much together are each read in part', () => {
    const parts = Array.from({ length: 40 }, (_, index) => ({
      type: 'text',
      text: `${index} ${'x'.repeat(huge / 20)}`,
    }))
    const { source, message } = readOf({ role: 'user', content: parts })
    expect(message.facts.skipped).toHaveLength(40)
    expect(parseMessage(source, message).text.length).toBeLessThan(1.1 * READ_BYTES_MAX)
  })

  test('forty thousand short ones that are too much together are not read at all', () => {
    const texts = Array.from({ length: 40_000 }, () => 'x'.repeat(100))
    expect(read(JSON.stringify({ role: 'user', content: texts }))).toBeNull()
  })
})

/** What a cut must not go through: escapes, pairs of them, backslashes, characters of several bytes. */
const nasty = fc.constantFrom(
  '\\n',
  '\\\\',
  '\\"',
  '\\u00e9',
  '\\ud83d\\ude00',
  '😀',
  'é',
  '漢',
  'u',
  'x',
  '\\u005c',
)

test('wherever the middle begins and ends, what is left is JSON, and the whole comes back', () => {
  forAll(25, fc.array(nasty, { minLength: 1, maxLength: 12 }), fc.nat(30), (pattern, shift) => {
    const unit = pattern.join('')
    const json = `{"role":"user","content":"${'x'.repeat(shift)}${unit.repeat(Math.ceil((1.2 * READ_BYTES_MAX) / unit.length))}"}`
    const found = read(json) ?? expect.fail('it was not read')
    const form = readable(found.source, found.message)
    const short = form.source.text(form.message.start, form.message.end)
    const { content }: { content: string } = JSON.parse(short)
    const whole: { content: string } = JSON.parse(json)
    const [head = '', tail = ''] = content.split(/ \[… \d+ bytes not read \(\d+\) …\] /)
    expect(whole.content.startsWith(head) && whole.content.endsWith(tail)).toBe(true)
    expect(runAtOnce(restored(found.source, found.message, short)).json).toBe(json)
  })
})

test('of a string of nothing but backslashes nothing is read', () => {
  const json = `{"role":"user","content":"${'\\\\'.repeat(huge / 2)}"}`
  const { source, message } = read(json) ?? expect.fail('it was not read')
  expect(parseMessage(source, message).text).toBe(` [… ${json.length - 28} bytes not read (1) …] `)
})

test('a name or an id of thousands of characters is kept as a beginning and a digest', () => {
  const long = 'n'.repeat(100_000)
  const { message } = readOf({
    role: 'assistant',
    name: long,
    tool_calls: [{ id: `${long}1`, function: { name: long, arguments: '{}' } }, { id: `${long}2` }],
  })
  const { facts } = message
  for (const kept of [facts.name ?? '', ...facts.callIds, facts.callNames[0] ?? '']) {
    expect(kept.length).toBeLessThan(1_000)
  }
  expect(facts.callIds[0]).not.toBe(facts.callIds[1])
  expect(facts.uncountedCharacters).toBe(2 * (100_000 - 1_024))
})

// Each time that a text wrote a mark, half a megabyte was decoded to see whether it is one: thousands of times in a message.
test('a text that writes the mark of another string again and again brings nothing back', () => {
  const { source, message } = readOf({ role: 'user', content: 'c', x: 'h'.repeat(huge) })
  const [unread] = message.facts.skipped ?? expect.fail('all was read')
  const mark = ` [… ${(unread?.end ?? 0) - (unread?.start ?? 0)} bytes not read (1) …] `
  const json = JSON.stringify({ role: 'user', content: mark.repeat(20_000) })
  let decoded = 0
  const counting: Source = {
    ...source,
    text: (start, end) => {
      decoded += end - start
      return source.text(start, end)
    },
  }
  expect(runAtOnce(restored(counting, message, json)).json).toBe(json)
  expect(decoded).toBeLessThan(2 * READ_BYTES_MAX)
})
