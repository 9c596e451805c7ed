import { describe, expect, test } from 'vitest'
import { writeCompactionEntry } from '../../src/archive/archiving.ts'
import type { Compaction } from '../../src/compaction/compaction.ts'
import { atFirstSight, compact } from '../support/compacted.ts'
import { lostMessages } from '../../src/compaction/view/view.ts'
import { createMadeCache, type MadeCache } from '../../src/compaction/made-cache.ts'
import { renderTerminal } from '../../src/compaction/terminal/render-terminal.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import type { History } from '../../src/compaction/history/history.ts'
import { READ_BYTES_MAX } from '../../src/json/skipped-text.ts'
import { answerRecall } from '../../src/recall/answer-recall.ts'
import { transcriptOf } from '../../src/summaries/transcript.ts'
import { metered, type Metered, UNITS_MAX } from '../support/at-once.ts'
import { profileOf, historyOf, viewTexts } from '../support/subject.ts'
import { propertyRuns } from '../support/property-runs.ts'
import { times } from '../support/times.ts'
import { assistant, resultOf, user } from './sending.ts'

// The attack: one request with a text of megabytes that leaves nobody a place to pause. It was counted, drawn and searched
// in one go, and for one to fourteen seconds no other client got an answer.

/** As much as is read of one message. */
const CHARS = Math.floor(READ_BYTES_MAX * 0.95)

/** This again and again, as long as that. */
const filled = (piece: string): string => piece.repeat(Math.ceil(CHARS / piece.length)).slice(0, CHARS)
const numbered = (between: string, piece: (at: number) => string): string =>
  times(CHARS / 40, piece)
    .join(between)
    .slice(0, CHARS)

/** Texts without spaces, of one line, of nothing but lines, of escapes, of characters of many bytes, of what a terminal draws over. */
const hardTexts: Readonly<Record<string, string>> = {
  'one letter': filled('a'),
  'nothing but line ends': '\n'.repeat(CHARS / 2),
  'nothing but quotes': '"'.repeat(CHARS / 2),
  emoji: '😀🚀'.repeat(CHARS / 8),
  'one CJK character': '中'.repeat(CHARS / 3),
  'a progress bar': numbered('\r', (at) => `loading part ${at} of it: ${at % 100}%`),
  'carriage returns': '\r'.repeat(CHARS / 2),
  'equal lines': filled('the very same line\n'),
  'names and paths': numbered(' ', (at) => `/srv/a/file-${at}.ts has id ${at * 7919}`),
  'cursor movement': '\u001b[9;9Hx\u001b[K\u001b[1A'.repeat(CHARS / 40),
  thoughts: filled('<think>a</think>'),
  'JSON in JSON': `{"a":[${'1,'.repeat(CHARS / 2 - 10)}1]}`,
}

const small = times(12, (at) => (at % 2 === 0 ? user : assistant)(`message ${at} of a talk `.repeat(20)))
const [first] = small

function calling(argumentsText: string): object {
  const call = { id: 'c1', type: 'function', function: { name: 'write', arguments: argumentsText } }
  return { ...assistant(''), tool_calls: [call] }
}

/** Where in a conversation such a text may stand. */
const places: Readonly<Record<string, (text: string) => readonly (object | undefined)[]>> = {
  'the task': (text) => [user(text), ...small.slice(1)],
  'an old message': (text) => [...small, user(text), ...small.slice(1), ...small],
  'a result': (text) => [first, calling('{}'), resultOf('c1', text), ...small],
  'the newest result': (text) => [...small, calling('{}'), resultOf('c1', text)],
  arguments: (text) => [first, calling(text), resultOf('c1', 'done'), ...small],
  'thoughts sent back': (text) => [first, { ...assistant('ok'), reasoning_content: text }, ...small],
  'a refusal': (text) => [first, { role: 'assistant', content: null, refusal: text }, ...small],
}

const profile = profileOf({ recall: { enabled: true } })

function compacted({ history, drive }: Metered, under: Profile, budgetTokens: number) {
  const cache = createMadeCache({ bytesMax: 8_000_000 })
  const now = { ...atFirstSight({ budgetTokens, aroundTokens: 0 }), strict: false, forced: true }
  const options = { ...now, profile: under, newest: null, prepared: null }
  return { cache, ...drive(compact(history, cache, options)) }
}

/** The most that all which is done with a conversation does between two pauses. */
function mostUnitsOf(measured: Metered): Record<string, number> {
  const { history, drive } = measured
  const { cache, result: made, mostUnits } = compacted(measured, profile, 40_000)
  const { compaction } = made
  const recalled = ['{}', '{"messages":"#1-#40"}', '{"search":"file-12345.ts \\"x\\" loading"}'].map(
    (query) => drive(answerRecall({ history, compacted: made }, query, 8_000)).mostUnits,
  )
  return {
    compaction: mostUnits,
    transcript: drive(transcriptOf(history, [...history.messages.keys()])).mostUnits,
    recall: Math.max(...recalled),
    archive: compaction === null ? 0 : drive(archived(history, compaction, cache)).mostUnits,
  }
}

function* archived(history: History, compaction: Compaction, cache: MadeCache) {
  const lost = yield* lostMessages(history, profile, cache, compaction)
  const entry = { history, compaction, lost, keys: [], time: '2026-01-01T00:00:00.000Z', holdings: [] }
  yield* writeCompactionEntry(entry, () => {})
}

/** Each text in one place or two, each place with some of them: all where all inputs are tried. */
const every = propertyRuns(3) === 3 ? 1 : 6
const pairs = Object.keys(places).flatMap((place, row) =>
  Object.keys(hardTexts).flatMap((text, column) => ((row + column) % every === 0 ? [{ place, text }] : [])),
)

describe('a text as long as is read of one message holds nobody up', () => {
  test.each(pairs)('$place: $text', ({ place, text }) => {
    const measured = metered(
      historyOf(places[place]?.(hardTexts[text] ?? '').map((each) => each ?? {}) ?? []),
    )
    for (const [work, mostUnits] of Object.entries(mostUnitsOf(measured)))
      expect(mostUnits, `of ${work}`).toBeLessThanOrEqual(UNITS_MAX)
  })

  test.each(Object.entries(hardTexts))(
    '%.20s is drawn with pauses in proportion to its length',
    (_, text) => {
      const { drive } = metered(historyOf(small))
      const { result: shown, pauses } = drive(renderTerminal(text))
      expect(pauses).toBeGreaterThanOrEqual(Math.floor(text.split(/[\n\r]/).length / 20_000))
      expect(shown.length).toBeLessThanOrEqual(text.length)
    },
  )
})

function viewOf(messages: readonly object[], under: Profile = profile): string[] {
  const history = historyOf(messages)
  return viewTexts(history, compacted(metered(history), under, 20_000).result.view)
}

describe('a message longer than what is read of one', () => {
  const text = `begin ${'many words of it '.repeat((2 * READ_BYTES_MAX) / 17)} end`

  test('weighs about what all of it weighs, by samples, and is clipped with a mark that states that', () => {
    const weight = text.length / 3
    const { sizes } = historyOf([user(text)])
    expect((sizes[0] ?? 0) / weight).toBeGreaterThan(0.99)
    expect((sizes[0] ?? 0) / weight).toBeLessThan(1.01)
    const shown = viewOf([...small, calling('{}'), resultOf('c1', text)]).at(-1) ?? ''
    expect(shown).toMatch(/"begin many words of it .* end"/)
    const stated = Number(/\[(?:clipped|preview)[^\d]*(\d+) tokens/.exec(shown)?.[1])
    expect(stated / weight).toBeCloseTo(1, 1)
  })

  test('keeps an image beside its text whole where the text is cleared or cut', () => {
    const url = `data:image/png;base64,${'iVBORw0KGgo='.repeat(READ_BYTES_MAX / 6)}`
    const image = { type: 'image_url', image_url: { url } }
    const content = [{ type: 'text', text: 'look at this '.repeat(30_000) }, image]
    const result = { ...resultOf('c1', ''), content }
    const under = profileOf({ clear: { keep_results: 40 } })
    const shown = viewOf([user('begin'), calling('{}'), result, ...small], under)
    expect(shown.filter((each) => each.includes('image_url') && !each.includes(url))).toEqual([])
  })
})
