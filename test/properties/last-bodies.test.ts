import { chatCompletions } from '../../src/formats/chat/chat.ts'
import type { Chat } from '../../src/pipeline/request.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFactsReader } from '../../src/formats/entry-facts.ts'
import { bodyLimits } from '../support/body-limits.ts'
import { digest, readBytes } from '../../src/pipeline/read/read-chat.ts'
import { createLastBodies, type LastBodies } from '../../src/pipeline/read/last-bodies.ts'
import { arbitraryMessages } from '../support/arbitrary-conversation.ts'
import { forAllAsync, weighed } from '../support/property-runs.ts'
import { times } from '../support/times.ts'

const readingWith = (lastBodies: LastBodies | null) => ({
  readFacts: createFactsReader(digest, { entriesMax: 10_000 }),
  limits: bodyLimits,
  ...(lastBodies === null ? {} : { lastBodies }),
})

const open = (bytesMax = 10_000_000) => createLastBodies({ bytesMax, bodyBytesMin: 0, idleMs: 60_000 })

/** All that was read of a body: every field, every look-up, the texts and the bytes that they lie in. */
function told(chat: Chat | string): unknown {
  if (typeof chat === 'string') return chat
  const { body, messages, structure, keys, bytes, source } = chat
  const indexes = times(messages.length + 2, (index) => index)
  const { entrySpans: _, ...settings } = body
  return {
    settings,
    messages: messages.map(({ start, end, facts }) => ({ start, end, facts, text: source.text(start, end) })),
    structure: {
      ...structure,
      latestUserBefore: indexes.slice(0, -1).map(structure.latestUserBefore),
      unitStart: indexes.map(structure.unitStart),
      isFrontier: indexes.map(structure.isFrontier),
      lastUnitStart: indexes.slice(0, -1).map(structure.lastUnitStart),
      newestRoundStart: indexes.slice(0, -1).map(structure.newestRoundStart),
      isStandIn: null,
    },
    keys,
    bytes: bytes.toString('latin1'),
  }
}

/** One turn: what a client does to the conversation that it sent before. */
type Change =
  | {
      readonly kind: 'append' | 'insert' | 'replace'
      readonly at: number
      readonly messages: readonly string[]
    }
  | { readonly kind: 'shrink' | 'back'; readonly at: number }
  | { readonly kind: 'settings'; readonly before: string; readonly after: string }
  | { readonly kind: 'spaces'; readonly space: string }
  | { readonly kind: 'damage'; readonly at: number; readonly byte: number }

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('é', '😀', '"', '\\', '}', ']},{', '\u2028', ''),
)

const spelled = fc.oneof(
  weighed(
    4,
    arbitraryMessages.map((messages) => messages.map((message) => JSON.stringify(message))),
  ),
  weighed(
    4,
    fc.array(
      fc
        .tuple(fc.constantFrom('user', 'assistant', 'system', 'tool'), text)
        .map(([role, content]) => JSON.stringify({ role, content })),
      { minLength: 1, maxLength: 4 },
    ),
  ),
  weighed(1, fc.constantFrom(['7'], ['{"role":"user","role":"user"}'], ['{"role":1}'], ['{'])),
)

const place = fc.double({ min: 0, max: 1, noNaN: true })

const change: fc.Arbitrary<Change> = fc.oneof(
  weighed(
    6,
    spelled.map((messages): Change => ({ kind: 'append', at: 1, messages })),
  ),
  weighed(
    4,
    fc.record({
      kind: fc.constantFrom('insert', 'replace'),
      at: fc.oneof(fc.constant(1), place),
      messages: spelled,
    }),
  ),
  weighed(3, fc.record({ kind: fc.constantFrom('shrink', 'back'), at: place })),
  weighed(
    2,
    fc.record({
      kind: fc.constant('settings'),
      before: fc.constantFrom(
        ...' "model":"m", "model":"é","stream":true, "messages":[], "tools":[{"a":"messages"}], \ufeff'.split(
          ' ',
        ),
      ),
      after: fc.constantFrom(
        ...' ,"max_tokens":7 ,"model":"x" ,"x":"😀" ,"messages":[1] } ,"x":1e400'.split(' '),
      ),
    }),
  ),
  weighed(1, fc.record({ kind: fc.constant('spaces'), space: fc.constantFrom('', ' ', '\n\t', '\u00a0') })),
  weighed(
    1,
    fc.record({
      kind: fc.constant('damage'),
      at: place,
      byte: fc.constantFrom(0xff, 0x5d, 0x7d, 0x2c, 0x22, 0xc3),
    }),
  ),
)

type State = {
  readonly messages: readonly string[]
  readonly before: string
  readonly after: string
  readonly space: string
}

const opening: State = { messages: ['{"role":"user","content":"go"}'], before: '', after: '', space: '' }

function changed(state: State, past: readonly State[], { ...made }: Change): State {
  const { messages } = state
  switch (made.kind) {
    case 'append':
    case 'insert': {
      const at = Math.round(made.at * messages.length)
      return { ...state, messages: [...messages.slice(0, at), ...made.messages, ...messages.slice(at)] }
    }
    case 'replace': {
      const at = Math.max(0, Math.round(made.at * messages.length) - 1)
      return { ...state, messages: [...messages.slice(0, at), ...made.messages, ...messages.slice(at + 1)] }
    }
    case 'shrink':
      return { ...state, messages: messages.slice(0, Math.round(made.at * messages.length)) }
    case 'back':
      return past[Math.floor(made.at * past.length)] ?? state
    case 'settings':
      return { ...state, before: made.before, after: made.after }
    case 'spaces':
      return { ...state, space: made.space }
    case 'damage':
      return state
  }
}

function bytesFor({ messages, before, after, space }: State, made: Change): Buffer {
  const list = messages.join(`${space},${space}`)
  const bytes = Buffer.from(`{${space}${before}"messages":${space}[${space}${list}${space}]${after}}${space}`)
  if (made.kind === 'damage') bytes[Math.floor(made.at * (bytes.length - 1))] = made.byte
  return bytes
}

describe('a body that goes on from an earlier one', () => {
  test('is read as if there had been none, whatever the client changed', async () => {
    await forAllAsync(150, fc.array(change, { maxLength: 24 }), async (changes) => {
      const remembering = readingWith(open())
      const past: State[] = [opening]
      for (const made of changes) {
        const state = changed(past.at(-1) ?? opening, past, made)
        past.push(state)
        const bytes = bytesFor(state, made)
        const afresh = await readBytes(chatCompletions, bytes, 'scope', readingWith(null))
        const again = await readBytes(chatCompletions, bytes, 'scope', remembering)
        expect(told(again)).toEqual(told(afresh))
      }
    })
  })

  test('shares all messages but those that are new, and but the last where it was changed', async () => {
    const reading = readingWith(open())
    const shared: number[] = []
    for (const said of ['ab', 'abc', 'abd', 'abdc', 'acd', 'abdca', 'ba']) {
      const messages = Array.from(said, (content) => JSON.stringify({ role: 'user', content }))
      const bytes = bytesFor({ ...opening, messages }, { kind: 'spaces', space: '' })
      const chat = await readBytes(chatCompletions, bytes, 'scope', reading)
      shared.push(typeof chat === 'string' ? -1 : (chat.grewFrom?.shared ?? 0))
    }
    expect(shared).toEqual([0, 2, 2, 3, 1, 4, 0])
  })
})
