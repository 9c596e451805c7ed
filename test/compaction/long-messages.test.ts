import { describe, expect, test } from 'vitest'
import { writeCompactionEntry } from '../../src/archive/compaction-entry.ts'
import type { Compacted } from '../../src/compaction/compact.ts'
import { atFirstSight, compact } from '../support/compacted.ts'
import { lostMessages } from '../../src/compaction/view/view.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import { renderTerminal } from '../../src/compaction/passes/render.ts'
import type { Policy } from '../../src/compaction/policy.ts'
import { READ_BYTES_MAX } from '../../src/conversation/unread.ts'
import { answerRecall } from '../../src/recall/answer-recall.ts'
import { transcriptOf } from '../../src/summaries/transcript.ts'
import { propertyRuns } from '../support/property-runs.ts'
import { metered, UNITS_MAX, type Metered } from '../support/at-once.ts'
import { policyOf, subjectOf, viewTexts } from '../support/subject.ts'

// The attack: one request with a text of megabytes that leaves nobody a place to pause. It was counted, drawn and searched
// in one go, and for one to fourteen seconds no other client got an answer.

/** As much as is read of one message. */
const CHARS = Math.floor(READ_BYTES_MAX * 0.95)

/** Texts without spaces, of one line, of nothing but lines, of escapes, of characters of many bytes, of what a terminal draws over. */
const hardTexts: Readonly<Record<string, string>> = {
  'one letter': 'a'.repeat(CHARS),
  'nothing but line ends': '\n'.repeat(CHARS / 2),
  'nothing but quotes': '"'.repeat(CHARS / 2),
  emoji: '😀🚀'.repeat(CHARS / 8),
  'one CJK character': '中'.repeat(CHARS / 3),
  'a progress bar': Array.from({ length: CHARS / 40 }, (_, at) => `loading part ${at} of it: ${at % 100}%`)
    .join('\r')
    .slice(0, CHARS),
  'carriage returns': '\r'.repeat(CHARS / 2),
  'equal lines': 'the very same line\n'.repeat(CHARS / 19),
  'names and paths': Array.from({ length: CHARS / 40 }, (_, at) => `/srv/a/file-${at}.ts has id ${at * 7919}`)
    .join(' ')
    .slice(0, CHARS),
  'cursor movement': '\u001b[9;9Hx\u001b[K\u001b[1A'.repeat(CHARS / 40),
  thoughts: '<think>a</think>'.repeat(CHARS / 16),
  'JSON in JSON': `{"a":[${'1,'.repeat(CHARS / 2 - 10)}1]}`,
}

const small = Array.from({ length: 12 }, (_, at) => ({
  role: at % 2 === 0 ? 'user' : 'assistant',
  content: `message ${at} of a talk `.repeat(20),
}))

function calling(argumentsText: string): object {
  const call = { id: 'c1', type: 'function', function: { name: 'write', arguments: argumentsText } }
  return { role: 'assistant', content: null, tool_calls: [call] }
}

const result = { role: 'tool', tool_call_id: 'c1', content: 'done' }

/** Where in a conversation such a text may stand. */
const places: Readonly<Record<string, (text: string) => readonly object[]>> = {
  'the task': (text) => [{ role: 'user', content: text }, ...small.slice(1)],
  'an old message': (text) => [...small, { role: 'user', content: text }, ...small.slice(1), ...small],
  'a result': (text) => [...small.slice(0, 1), calling('{}'), { ...result, content: text }, ...small],
  'the newest result': (text) => [...small, calling('{}'), { ...result, content: text }],
  arguments: (text) => [...small.slice(0, 1), calling(text), result, ...small],
  'thoughts sent back': (text) => [
    ...small.slice(0, 1),
    { role: 'assistant', content: 'ok', reasoning_content: text },
    ...small,
  ],
  'a refusal': (text) => [
    ...small.slice(0, 1),
    { role: 'assistant', content: null, refusal: text },
    ...small,
  ],
}

const policy = policyOf({ recall: { enabled: true } })

function compacted({ subject, drive }: Metered, under: Policy, budgetTokens: number) {
  const cache = createMadeCache({ charsMax: 8_000_000 })
  const now = {
    ...atFirstSight({ budgetTokens, aroundTokens: 0 }),
    strict: false,
    forced: true,
    prepared: null,
  }
  return { cache, ...drive(compact(subject, cache, { policy: under, newest: null, ...now })) }
}

/** The most that all which is done with a conversation does between two pauses. */
function mostUnitsOf(measured: Metered, budgetTokens: number): Record<string, number> {
  const { subject, drive } = measured
  const { cache, result: made, mostUnits } = compacted(measured, policy, budgetTokens)
  const { compaction } = made
  const held = { subject, compacted: made }
  const indexes = [...subject.messages.keys()]
  const recalled = ['{}', '{"messages":"#1-#40"}', '{"search":"file-12345.ts \\"x\\" loading"}'].map(
    (query) => drive(answerRecall(held, query, 8_000)).mostUnits,
  )
  return {
    compaction: mostUnits,
    transcript: drive(transcriptOf(subject, indexes)).mostUnits,
    recall: Math.max(...recalled),
    archive: compaction === null ? 0 : drive(archived(measured, compaction, cache)).mostUnits,
  }
}

function* archived(
  { subject }: Metered,
  compaction: NonNullable<Compacted['compaction']>,
  cache: ReturnType<typeof createMadeCache>,
) {
  const lost = yield* lostMessages(subject, policy, cache, compaction)
  const entry = { subject, compaction, lost, keys: [], time: '2026-01-01T00:00:00.000Z', holdings: [] }
  yield* writeCompactionEntry(entry, () => {})
}

const pairs = Object.keys(places).flatMap((place, row) =>
  Object.keys(hardTexts).map((text, column) => ({ place, text, step: row + column })),
)
/** Each text in every third place, each place with every third text: all of them where all inputs are tried. */
const every = Math.round(pairs.length / propertyRuns(pairs.length))

describe('a text as long as is read of one message holds nobody up', () => {
  test.each(pairs.filter(({ step }) => step % every === 0))('$place: $text', ({ place, text }) => {
    const measured = metered(subjectOf(places[place]?.(hardTexts[text] ?? '') ?? []))
    for (const [work, mostUnits] of Object.entries(mostUnitsOf(measured, 40_000)))
      expect(mostUnits, `of ${work}`).toBeLessThanOrEqual(UNITS_MAX)
  })

  test.each(Object.keys(hardTexts))('%s is drawn with pauses in proportion to its length', (name) => {
    const text = hardTexts[name] ?? ''
    const { drive } = metered(subjectOf(small))
    const { result: shown, pauses } = drive(renderTerminal(text))
    const lines = text.split(/[\n\r]/).length
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(lines / 20_000))
    expect(shown.length).toBeLessThanOrEqual(text.length)
  })
})

function viewOf(messages: readonly object[], under: Policy = policy): string[] {
  const subject = subjectOf(messages)
  return viewTexts(subject, compacted(metered(subject), under, 20_000).result.view)
}

describe('a message longer than what is read of one', () => {
  const text = `begin ${'many words of it '.repeat((2 * READ_BYTES_MAX) / 17)} end`

  test('weighs about what all of it weighs, by samples', () => {
    const { sizes } = subjectOf([{ role: 'user', content: text }])
    expect(sizes[0]).toBeGreaterThan((text.length / 3) * 0.99)
    expect(sizes[0]).toBeLessThan((text.length / 3) * 1.01)
  })

  test('is clipped like any other, and its mark states what all of it takes', () => {
    const shown = viewOf([...small, calling('{}'), { ...result, content: text }]).at(-1) ?? ''
    expect(shown).toMatch(/"begin many words of it .* end"/)
    const stated = Number(/\[(?:clipped|preview)[^\d]*(\d+) tokens/.exec(shown)?.[1])
    expect(stated / (text.length / 3)).toBeCloseTo(1, 1)
  })

  test('keeps an image beside its text whole where the text is cleared or cut', () => {
    const url = `data:image/png;base64,${'iVBORw0KGgo='.repeat(READ_BYTES_MAX / 6)}`
    const content = [
      { type: 'text', text: 'look at this '.repeat(30_000) },
      { type: 'image_url', image_url: { url } },
    ]
    const messages = [{ role: 'user', content: 'begin' }, calling('{}'), { ...result, content }, ...small]
    const shown = viewOf(messages, policyOf({ clear: { keep_results: 40 } }))
    const withImage = shown.filter((each) => each.includes('image_url'))
    for (const each of withImage) expect(each).toContain(url)
  })
})
