import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import { AS_IT_CAME, messageEditor, type Edit } from '../../src/compaction/edit-message.ts'
import { parseMessage } from '../support/chat-completions.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import {
  call,
  content,
  prose,
  shortText,
  text,
  thoughtBlock,
  thoughts,
} from '../support/arbitrary-conversation.ts'
import { profileOf, subjectFrom } from '../support/subject.ts'
import { forAll, weighed } from '../support/property-runs.ts'

const counter = await loadCounter('o200k_base')
const preview = { threshold_tokens: 200, max_chars: 400, max_lines: 20 }
const policies = [false, true].map((enabled) => profileOf({ preview, recall: { enabled } }))

/** A message under a edit: what is sent for it, what it is said to weigh, and what it weighs. */
function treat(message: object, edit: Edit, exact = true, isNamed = false) {
  const count = exact ? counter : undefined
  const history = subjectFrom(JSON.stringify([message]), count)
  const profile = policies[isNamed ? 1 : 0] ?? profileOf()
  const make = messageEditor(history, profile, createMadeCache({ bytesMax: 1_000_000 }))
  // A message that holds no thoughts which may go is not told to lose them.
  const isUnbound = edit.isUnbound && history.messages[0]?.facts.bound === 'part'
  const made = runAtOnce(make(0, { ...edit, isUnbound }))
  const sent = made.text ?? JSON.stringify(message)
  const recount = subjectFrom(`[${sent}]`, count)
  return {
    sent,
    said: made.tokens,
    weighs: recount.sizes[0] ?? 0,
    size: history.sizes[0] ?? 0,
    parsed: recount.messages.map((only) => parseMessage(recount.source, only))[0],
  }
}

const clip = (message: object) => treat(message, { ...AS_IT_CAME, tokensMax: 300 })

const passes = ['kept', 'rendered', 'previewed'] as const

const arbitraryEdit: fc.Arbitrary<Edit> = fc.oneof(
  fc.constantFrom(...passes, 'cleared' as const).map((pass): Edit => ({ ...AS_IT_CAME, pass })),
  fc.constantFrom<Edit[]>(
    { ...AS_IT_CAME, isUnbound: true },
    { ...AS_IT_CAME, mediaKept: 0 },
    { ...AS_IT_CAME, mediaKept: 1 },
    { ...AS_IT_CAME, mediaKept: 1, isUnbound: true },
  ),
  fc.record({
    pass: fc.constantFrom(...passes),
    tokensMax: fc.oneof(fc.integer({ min: -20, max: 200 }), fc.integer({ min: 0, max: 4_000 })),
    isUnbound: fc.boolean(),
    mediaKept: fc.constant(null),
    resolves: fc.constant(null),
  }),
)

const objectArguments = text.map((value) => ({
  function: { name: 'run', arguments: { count: 3, text: value } },
}))
const noArguments = { function: { name: 'f', arguments: null } }
const oddCall = fc.constantFrom<unknown[]>(null, 7, {}, { function: null }, noArguments)
const calls = fc.array(fc.oneof(weighed(5, call), objectArguments, oddCall), { maxLength: 8 })
const noCalls = fc.constantFrom({}, { tool_calls: null }, { tool_calls: [] })
const legacy = fc
  .tuple(noCalls, text)
  .map(([before, value]) => ({ ...before, function_call: { name: 'f', arguments: value } }))
const callFields = fc.oneof(
  weighed(3, fc.constant({})),
  weighed(
    5,
    calls.map((tool_calls) => ({ tool_calls })),
  ),
  weighed(2, legacy),
)

const refusal = { type: 'refusal', refusal: 'no' }
const odd = fc.constantFrom<unknown[]>(null, 7, 'plain', refusal, { type: 'summary_text', text: 'a' })
const thoughtsBefore = fc
  .tuple(fc.array(thoughtBlock, { maxLength: 2 }), content)
  .map(([blocks, said]): unknown[] => [...blocks, ...(Array.isArray(said) ? said : [said ?? ''])])
const answer = text.map((value) => ({ answer: value }))
const anyContent = fc.oneof(weighed(6, content), weighed(2, thoughtsBefore), fc.array(odd), answer)
const beside = fc.oneof(
  weighed(5, fc.constant({})),
  fc.constant({ audio: { id: 'audio_1' } }),
  shortText.map((name) => ({ name })),
  shortText.map((reasoning_content) => ({ reasoning_content, refusal: 'no' })),
)
const roles = fc.constantFrom('assistant', 'assistant', 'tool', 'user', 'function')

/** A message of any role with anything in it that any server has been seen to take. */
const anyMessage = fc
  .tuple(roles, anyContent, thoughts, beside, callFields)
  .map(([role, said, ...fields]): object => Object.assign({ role, content: said }, ...fields))

describe('what a made message is said to weigh is what it weighs (P7)', () => {
  test.each([
    ['in an encoding', true, false, 150],
    ['in thirds', false, false, 750],
    ['in an encoding with a mark that names it', true, true, 150],
    ['in thirds with a mark that names it', false, true, 750],
  ])('%s, whatever is in the message and whatever is done to it', (_, exact, isNamed, numRuns) => {
    forAll(numRuns, anyMessage, arbitraryEdit, (message, edit) => {
      const { said, weighs, size } = treat(message, edit, exact, isNamed)
      expect(said).toBe(weighs)
      expect(said).toBeLessThanOrEqual(size)
    })
  })
})

describe('what can be cut is cut, in whatever field it stands', () => {
  const long = prose(20_000)

  // Sent whole and booked as cut, so that a request was over its budget without anybody knowing.
  test('a custom tool’s input stays free text', () => {
    const patch = { id: 'a', type: 'custom', custom: { name: 'apply_patch', input: long } }
    const { parsed, weighs } = clip({ role: 'assistant', content: null, tool_calls: [patch] })
    expect(weighs).toBeLessThanOrEqual(300)
    expect(parsed?.calls[0]?.argumentsText).toMatch(/^.* \[clipped: \d+ tokens in all\] .*$/s)
  })

  test('a legacy function_call beside a tool_calls of null', () => {
    const called = { name: 'f', arguments: JSON.stringify({ text: long }) }
    const message = { role: 'assistant', content: null, tool_calls: null, function_call: called }
    const { parsed, weighs, sent } = clip(message)
    expect(weighs).toBeLessThanOrEqual(300)
    expect(JSON.parse(parsed?.calls[0]?.argumentsText ?? '')).toHaveProperty('text')
    expect(sent).toContain('"tool_calls":null,"function_call":{"name":"f","arguments":"')
  })

  test('arguments that are an object stay an object', () => {
    const called = { id: 'a', function: { name: 'f', arguments: { path: 'a.ts', text: long } } }
    const { weighs, sent } = clip({ role: 'assistant', tool_calls: [called] })
    expect(weighs).toBeLessThanOrEqual(300)
    expect(sent).toContain('"arguments":{"path":"a.ts","text":"')
  })
})

const sentAs = (...parts: object[]) => JSON.stringify({ role: 'user', content: parts })

const unloaded = (mediaKept: number, parts: object[]) =>
  treat({ role: 'user', content: parts }, { ...AS_IT_CAME, mediaKept })

const words = (said: string) => ({ type: 'text', cache_control: {}, text: said })

const imageAt = (name: string) => ({
  type: 'image_url',
  image_url: { url: `https://images.example/${name}.png` },
})

describe('a message that loses its media', () => {
  const mark = { type: 'text', text: '[media left out]' }

  test('keeps its text parts as they are, and says so where nothing else was in it', () => {
    const [first, last, image] = [words('Look:'), words('Repair it.'), imageAt('a')]
    const { sent, said, size } = unloaded(0, [first, image, last, image])
    expect(sent).toBe(sentAs(first, mark, last))
    const marked = counter.count('Look:\n[media left out]\nRepair it.')
    expect(size - said).toBe(2 * 85 + counter.count('Look:\nRepair it.') - marked)
    expect(unloaded(0, [image]).parsed?.text).toBe('[media left out]')
  })

  // Ten images went for an excess of twenty tokens.
  test('loses the first of them first, and no more than it has to', () => {
    const [one, two, three] = [imageAt('1'), imageAt('2'), imageAt('3')]
    expect(unloaded(2, [one, two, three]).sent).toBe(sentAs(mark, two, three))
  })
})

describe('what stays is counted', () => {
  test('a message without the thoughts in it that are bound is cut no more than it needs', () => {
    const thinking_blocks = [{ type: 'thinking', thinking: prose(4_000), signature: 'c2ln' }]
    const message = { role: 'assistant', content: prose(400), thinking_blocks }
    const { sent } = treat(message, { ...AS_IT_CAME, tokensMax: 300, isUnbound: true })
    expect(sent).toBe(JSON.stringify({ role: 'assistant', content: prose(400) }))
  })

  test.each([
    ['audio that the upstream keeps', { audio: { id: 'audio_1' } }, 85],
    ['thoughts', { reasoning_content: prose(400) }, counter.count(prose(400))],
    ['encrypted thoughts', { reasoning_details: [{ data: 'x'.repeat(400) }] }, 100],
    ['a refusal', { refusal: prose(400) }, counter.count(prose(400))],
  ])('%s', (_, field, tokens) => {
    const { said, sent } = clip({ role: 'assistant', content: prose(20_000), ...field })
    expect(sent).toContain(JSON.stringify(field).slice(1, -1))
    expect(said).toBeGreaterThan(tokens)
    expect(said).toBeLessThanOrEqual(300)
  })

  test('thoughts among the parts stay with the text that follows them', () => {
    const block = { type: 'thinking', thinking: 'hm', signature: 'c2ln' }
    const { sent } = clip({ role: 'assistant', content: [block, { type: 'text', text: prose(20_000) }] })
    expect(sent).toContain(`"content":[${JSON.stringify(block)},{"type":"text","text":"`)
  })
})
