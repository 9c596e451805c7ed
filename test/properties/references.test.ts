import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Compaction } from '../../src/compaction/compaction.ts'
import type { Compacted } from '../../src/compaction/compact.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { violationsOf } from '../support/chat-completions.ts'
import { compact } from '../support/compacted.ts'
import { isBeginning } from '../support/is-beginning.ts'
import { forAll } from '../support/property-runs.ts'
import { profileOf, historyOf, viewTexts } from '../support/subject.ts'
import { times } from '../support/times.ts'

const REFERENCE = 'File unchanged since last read. Refer to that earlier result.'
const RESOLVED_LINE = '[unchanged since the earlier call, whose result is repeated here]'

/** Reads of few files, some only in part, that answer with a text, a reference, a failure, or nothing; and edits. */
const steps = fc.array(
  fc.record({
    tool: fc.constantFrom('Read', 'Read', 'Read', 'Edit', 'Grep'),
    file: fc.integer({ min: 0, max: 4 }),
    offset: fc.constantFrom(null, null, 40),
    answer: fc.constantFrom('text', 'text', 'reference', 'reference', 'failure', 'nothing'),
    isAnswered: fc.constantFrom(true, true, true, true, false),
  }),
  { minLength: 4, maxLength: 40, size: 'max' },
)

type Steps = typeof steps extends fc.Arbitrary<infer Each> ? Each : never

function conversationOf(given: Steps): object[] {
  const messages: object[] = [{ role: 'user', content: 'Begin.' }]
  for (const [place, { tool, file, offset, answer, isAnswered }] of given.entries()) {
    const id = `call_${place % 7}`
    const asked = { path: `/repo/part_${file}.py`, ...(offset === null ? {} : { offset }) }
    const call = { id, type: 'function', function: { name: tool, arguments: JSON.stringify(asked) } }
    messages.push({ role: 'assistant', content: `Step ${place}.`, tool_calls: [call] })
    const lines = times(30 + file * 20, (line) => `${line} part ${file} as of step ${place}`)
    const answers = {
      text: lines.join('\n'),
      reference: REFERENCE,
      failure: 'Error: no such file',
      nothing: '',
    }
    if (isAnswered) messages.push({ role: 'tool', tool_call_id: id, content: answers[answer] })
    if (place % 9 === 8) messages.push({ role: 'user', content: `And go on (${place}).` })
  }
  return messages
}

const contentOf = (text: string): string => {
  const { content }: { content: unknown } = JSON.parse(text)
  return typeof content === 'string' ? content : ''
}

const atNoPoint = { sharedUntil: null, strict: false, forced: false, prepared: null, differenceTokens: 0 }

/** The conversation as its client grows it, each request by what the one before left on record. */
function* grown(messages: readonly object[], profile: object, budgetTokens: number) {
  let newest: Compaction | null = null
  let seenUntil: number | null = null
  for (const point of historyOf(messages).structure.requestPoints) {
    const history = historyOf(messages.slice(0, point))
    const made: Compacted = runAtOnce(
      compact(history, createMadeCache({ bytesMax: 10_000_000 }), {
        profile: profileOf(profile),
        newest,
        seenUntil,
        room: { budgetTokens, aroundTokens: 50 },
        ...atNoPoint,
      }),
    )
    const { compaction, view } = made
    yield {
      history,
      view,
      texts: viewTexts(history, view),
      isNew: compaction !== newest,
      isFirst: newest === null,
    }
    newest = compaction
    seenUntil = point
  }
}

const policies = fc.constantFrom(
  {},
  { clear: { keep_results: 2 } },
  { clear: { enabled: false } },
  { preview: { threshold_tokens: 200 } },
)

test('and without records the same is sent: what refers to a message later weighs nothing before', () => {
  forAll(200, steps, policies, fc.integer({ min: 1_200, max: 5_000 }), (given, profile, budgetTokens) => {
    const messages = conversationOf(given)
    const last = [...grown(messages, profile, budgetTokens)].at(-1)
    fc.pre(last !== undefined)
    const { view } = runAtOnce(
      compact(last.history, createMadeCache({ bytesMax: 10_000_000 }), {
        profile: profileOf(profile),
        newest: null,
        seenUntil: null,
        room: { budgetTokens, aroundTokens: 50 },
        ...atNoPoint,
      }),
    )
    expect(viewTexts(last.history, view)).toEqual(last.texts)
  })
})

test('references are resolved with what the client sent, once, and never in a request that fits', () => {
  forAll(200, steps, policies, fc.integer({ min: 1_200, max: 5_000 }), (given, profile, budgetTokens) => {
    const messages = conversationOf(given)
    const sent = messages.map((message) => ('content' in message ? String(message.content) : ''))
    let before: readonly string[] = []
    for (const { history, view, texts, isNew } of grown(messages, profile, budgetTokens)) {
      expect(view.tokens).toBeLessThanOrEqual(Math.max(budgetTokens - 50, 0) + 200)
      if (!isNew) expect(isBeginning(before, texts)).toBe(true)
      before = texts
      if (view.passes.length === 0) expect(texts.some((text) => text.includes(RESOLVED_LINE))).toBe(false)
      const contents = texts.map(contentOf)
      const whole = contents
        .filter((text) => text.startsWith(RESOLVED_LINE))
        .map((text) => text.split('\n').slice(1).join('\n'))
      for (const text of whole) {
        // Cut ones have the head of such a text, and a mark.
        const head = text.slice(0, 40)
        expect(sent.some((said) => said.startsWith(head))).toBe(true)
        if (sent.includes(text)) expect(contents.filter((other) => other.endsWith(text))).toHaveLength(1)
      }
      const shapes = view.messages.flatMap(({ index }) => {
        const facts = index === null ? undefined : history.messages[index]?.facts
        return facts === undefined ? [] : [facts]
      })
      const count = violationsOf(shapes).length
      const own = violationsOf(history.messages.map(({ facts }) => facts)).length
      expect(count).toBeLessThanOrEqual(own)
    }
  })
})
