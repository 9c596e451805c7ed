import { expect, test } from 'vitest'
import { scanBody } from '../../src/json/body-scan.ts'
import type { Role } from '../../src/conversation/message.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { spliceMessages } from '../../src/json/splice.ts'
import { chatCompletions } from '../../src/formats/chat/chat.ts'
import type { Dialect } from '../../src/formats/contract.ts'
import { createFactsReader, readEntries } from '../../src/formats/entry-facts.ts'
import { bytesOf } from '../../src/pipeline/send/outgoing-body.ts'
import { createLastBodies } from '../../src/pipeline/read/last-bodies.ts'
import { structureOf } from '../../src/conversation/structure.ts'
import { bodyLimits } from '../support/body-limits.ts'
import { digest, sourceOf } from '../support/source.ts'

const roles: ReadonlySet<string> = new Set<Role>(['user', 'assistant'])

const isRole = (value: unknown): value is Role => typeof value === 'string' && roles.has(value)

/** A dialect whose messages hold blocks: who speaks stands around them. */
const nested: Dialect = {
  ...chatCompletions,
  name: 'nested',
  entries: {
    ...chatCompletions.entries,
    describe: function* describeBlock(entry, use, skippedBytes, holder) {
      const described = yield* chatCompletions.entries.describe(
        { role: 'user', ...entry },
        use,
        skippedBytes,
        null,
      )
      if (described === null || described === 'stateful') return described
      const { facts } = described
      const role = holder === null ? facts.role : holder['role']
      return !isRole(role) ? null : { ...described, facts: { ...facts, role } }
    },
  },
}

function read(text: string, reader = createFactsReader(digest, { entriesMax: 10_000 })) {
  const source = sourceOf(text)
  const scan = runAtOnce(scanBody(source, { history: 'messages', content: 'blocks' }, null, bodyLimits))
  if (typeof scan === 'string' || scan.history === null) throw new Error('not read')
  const messages = runAtOnce(readEntries(nested, scan.history, source, 'scope', reader))
  if (messages === 'stateful') throw new Error('not read')
  return messages
}

const block = (content: string) => `{"content":"${content}"}`
const message = (role: string, ...blocks: readonly string[]) =>
  `{"role":"${role}","blocks":[${blocks.map(block).join(', ')}]}`
const bodyOf = (...messages: readonly string[]) =>
  `{"model":"m","messages":[${messages.join(' , ')}],"pad":"${'x'.repeat(5_000)}"}`

test('who says a block is read around it, and equal blocks of two speakers are two things', () => {
  const messages = read(bodyOf(message('user', 'Hi', 'there'), message('assistant', 'Hi')))
  expect(messages?.map(({ facts }) => facts.role)).toEqual(['user', 'user', 'assistant'])
  expect(messages?.map(({ facts }) => facts.opensReply)).toEqual([false, false, true])
  expect(new Set(messages?.map(({ facts }) => facts.hash)).size).toBe(3)
})

test.each([
  ['a key that stands twice around it', '{"role":"user","role":"assistant","blocks":[{"content":"Hi"}]}'],
  ['two lists of blocks', '{"role":"user","blocks":[{"content":"Hi"}],"blocks":[{"content":"Ho"}]}'],
])('a block is nobody’s for certain beside %s', (_, odd) => {
  expect(read(bodyOf(odd))).toBeNull()
})

// Of a body that goes on from another one, what is known ends where an element of its history does: a scan goes on from there.
test('a message that got one block more is read anew, and the ones before it are taken over where they stand now', () => {
  const lastBodies = createLastBodies({ bytesMax: 1e6, bodyBytesMin: 0, idleMs: 1e6 })
  const first = bodyOf(message('user', 'a', 'b'), message('assistant', 'c'))
  const messages = read(first) ?? []
  const keys = messages.map(() => '')
  const arrayStart = first.indexOf('[')
  lastBodies.remember(
    's',
    { bytes: Buffer.from(first), arrayStart, messages, structure: runAtOnce(structureOf(messages)), keys },
    null,
  )

  const second = ` ${bodyOf(message('user', 'a', 'b'), message('assistant', 'c', 'd'))}`
  const found = lastBodies.find('s', Buffer.from(second), second.indexOf('['))
  const known = found?.messages ?? []
  expect(second.slice(found?.span.start, found?.span.end)).toBe(`[${message('user', 'a', 'b')}`)
  expect(known.map(({ start, end }) => second.slice(start, end))).toEqual(['a', 'b'].map(block))
  expect(known[0]?.envelope).toBe(known[1]?.envelope)
  const pieces = spliceMessages(
    known,
    [{ kind: 'kept', index: 1 }],
    { start: 0, end: second.length },
    second.length,
  )
  expect(bytesOf(Buffer.from(second), pieces).toString()).toBe(second.replace(`${block('a')}, `, ''))
  lastBodies.clear()
})

// A mark for the cache moves on with each request: of three results in one message all were new, so that every body of such a
// conversation was held until there was no more room.
test('a body takes the place of the one that it goes on from, though all of the newest message changed', () => {
  const lastBodies = createLastBodies({ bytesMax: 1e6, bodyBytesMin: 0, idleMs: 1e6 })
  const held: number[] = []
  for (const marked of ['c', 'c*']) {
    const text = bodyOf(message('user', 'a'), message('assistant', 'b'), message('user', 'x', 'y', marked))
    const [bytes, arrayStart, messages] = [Buffer.from(text), text.indexOf('['), read(text) ?? []]
    const body = {
      bytes,
      arrayStart,
      messages,
      structure: runAtOnce(structureOf(messages)),
      keys: messages.map(() => ''),
    }
    lastBodies.remember('s', body, lastBodies.find('s', bytes, arrayStart))
    held.push(lastBodies.heldBytes())
  }
  expect(held[1]).toBeLessThan((held[0] ?? 0) * 1.5)
  lastBodies.clear()
})
