import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fenced, readHoldings, writeCompactionEntry, writeHolding } from '../../src/archive/archiving.ts'
import { type Compacted, tighten } from '../../src/compaction/compact.ts'
import { lostMessages } from '../../src/compaction/view/view.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import type { Compaction } from '../../src/compaction/compaction.ts'
import type { History } from '../../src/compaction/history/history.ts'
import { meaningKeys } from '../../src/conversation/prefix-keys.ts'
import { parseMessage } from '../support/chat-completions.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { round, rounds, system, user } from '../compaction/sending.ts'
import { standingSummary } from '../support/at-once.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { compactedUnder } from '../support/compacted.ts'
import { digest } from '../support/source.ts'
import { profileOf, historyOf } from '../support/subject.ts'
import { headingsOf, readArchive } from './read-archive.ts'
import { forAll } from '../support/property-runs.ts'

const cache = createMadeCache({ bytesMax: 10_000_000 })

/** A file after this compaction, which may hold something before. */
function fileAfter(history: History, profile: Profile, compaction: Compaction, file = ''): string {
  let text = file
  const entry = {
    history,
    compaction,
    lost: runAtOnce(lostMessages(history, profile, cache, compaction)),
    keys: runAtOnce(meaningKeys(history.messages, history.structure.systemCount, digest)),
    time: '2026-11-03T10:20:30.000Z',
    holdings: readHoldings(file),
  }
  runAtOnce(writeCompactionEntry(entry, (piece) => (text += piece)))
  return text
}

type Sending = {
  readonly profile: Profile
  readonly budgetTokens: number
  readonly newest?: Compaction | null
}

const sent = (history: History, options: Sending): Compacted => compactedUnder(history, { ...options, cache })

function smaller(history: History, profile: Profile, previous: Compaction | null): Compacted | null {
  const room = { budgetTokens: 600, aroundTokens: 3, slackTokens: 0 }
  const options = { profile, previous, room, keepRecent: 2, smallest: false, strict: false }
  return runAtOnce(tighten(history, cache, options))
}

/**
 * The messages before a compaction's point that its view does not show as they came, or as a terminal would show them; thoughts
 * that only held for the conversation that they were thought in are nothing to read back.
 */
function missingIn({ messages }: History, { view, compaction }: Compacted): readonly number[] {
  const shown = new Set(view.messages.flatMap(({ index, how }) => (asCame.has(how) ? [index] : [])))
  for (const [index, { facts }] of messages.entries()) if (facts.bound === 'whole') shown.add(index)
  const missing: number[] = []
  for (let index = 0; index < (compaction?.point ?? 0); index += 1) if (!shown.has(index)) missing.push(index)
  return missing
}

const asCame: ReadonlySet<string> = new Set(['kept', 'unbound', 'rendered'])

/** The messages that a file holds. */
const numbersIn = (file: string): ReadonlySet<number | null> =>
  new Set(readArchive(file).map(({ number }) => number))

/** Everything that a message says, in the order in which it is written. */
function saidBy(history: History, index: number): readonly string[] {
  const message = history.messages[index]
  if (message === undefined) return []
  if (message.facts.role === 'other') return [history.source.text(message.start, message.end)]
  const { text, uncut, calls } = parseMessage(history.source, message)
  return [...[text, uncut].filter((each) => each !== ''), ...calls.map((call) => call.argumentsText)]
}

const policies = fc
  .record({
    limit: fc.record({ turns: fc.constantFrom(0, 0, 4), messages: fc.constantFrom(0, 0, 12) }),
    keep: fc.record({ recent_messages: fc.integer({ min: 0, max: 12 }), task: fc.boolean() }),
    clear: fc.record({ enabled: fc.boolean(), keep_results: fc.integer({ min: 0, max: 4 }) }),
    preview: fc.record({ threshold_tokens: fc.constantFrom(1000, 4000) }),
  })
  .map(profileOf)

describe('whatever becomes of a growing conversation', () => {
  test('each message that a view lost stands in the file word for word, and once', () => {
    const budget = fc.integer({ min: 700, max: 8000 })
    forAll(80, conversation, budget, policies, fc.nat(6), (messages, budgetTokens, profile, refused) => {
      let newest: Compaction | null = null
      let file = ''
      const missing = new Set<number>()
      for (const [count, point] of historyOf(messages).structure.requestPoints.entries()) {
        const history = historyOf(messages.slice(0, point))
        const made = sent(history, { profile, budgetTokens, newest })
        const recovered = count % 7 === refused ? smaller(history, profile, made.compaction) : null
        for (const each of recovered === null ? [made] : [made, recovered]) {
          if (each.compaction === null || each.compaction === newest) continue
          newest = each.compaction
          file = fileAfter(history, profile, newest, file)
          for (const index of missingIn(history, each)) missing.add(index)
        }
      }
      const whole = historyOf(messages)
      const { systemCount } = whole.structure
      const written = readArchive(file).filter(({ number }) => number !== null)
      const expected = [...missing].sort((one, other) => one - other).map((index) => index - systemCount + 1)
      const numbers = written.map(({ number }) => Number(number)).sort((one, other) => one - other)
      expect(numbers).toEqual(expected)
      for (const { number, fences } of written)
        expect(fences).toEqual(saidBy(whole, Number(number) + systemCount - 1))
    })
  })

  // Not the same as one that was always there: a user's images are dropped while there is no room, and come back.
  test('a file that was not there at first comes to hold all that is missing now', () => {
    forAll(50, conversation, policies, (messages, profile) => {
      let newest: Compaction | null = null
      let [file, late] = ['', '']
      for (const [count, point] of historyOf(messages).structure.requestPoints.entries()) {
        const history = historyOf(messages.slice(0, point))
        const { compaction } = sent(history, { profile, budgetTokens: 1500, newest })
        if (compaction === null || compaction === newest) continue
        newest = compaction
        file = fileAfter(history, profile, compaction, file)
        // Half of the time nothing can be written.
        late = count % 2 === 0 ? late : fileAfter(history, profile, compaction, late)
      }
      const end = historyOf(messages)
      if (newest === null) return
      const { systemCount } = end.structure
      const held = numbersIn(fileAfter(end, profile, newest, late))
      for (const index of runAtOnce(lostMessages(end, profile, cache, newest)))
        expect(held).toContain(index - systemCount + 1)
      for (const number of held) expect(numbersIn(file)).toContain(number)
    })
  })
})

describe('an entry', () => {
  const profile = profileOf({
    keep: { recent_messages: 2 },
    preview: { threshold_tokens: 100_000 },
    clear: { enabled: false },
  })
  const pixel = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'
  const messages = [
    system('You repair programs.'),
    user('The task.'),
    ...round('a', 'first\n```\nresult', 'bash', { command: 'make' }),
    user([
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: pixel } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ]),
    user('Go on.'),
    ...rounds('b', 8, 500),
  ]
  const history = historyOf(messages)
  const compactionOf = (of: History, newest: Compaction | null = null): Compaction => {
    const { compaction: made } = sent(of, { profile, budgetTokens: 2500, newest })
    if (made === null || made === newest) throw new Error('there is no further compaction')
    return made
  }
  const compaction = compactionOf(history)
  const file = fileAfter(history, profile, compaction)

  test('says when and why, names each message and its tool, and gives text, arguments and marks of media', () => {
    expect(headingsOf(file).slice(0, 5)).toEqual([
      expect.stringMatching(/^2026-11-03T10:20:30\.000Z, trigger: #2 to #\d+$/),
      '#2 assistant',
      '#3 result of bash',
      '#4 user',
      '#6 assistant',
    ])
    expect(file).toContain('## #2 assistant\n\nCall of bash:\n\n```\n{"command":"make"}\n```\n')
    expect(file).toContain('## #3 result of bash\n\n~~~\nfirst\n```\nresult\n~~~\n')
    expect(file).toContain(
      '## #4 user\n\n```\nLook:\n```\n\n[image, 33 bytes, 1 × 1 pixels]\n\n[image at an address]\n',
    )
    expect(file).not.toContain('The task.')
    expect(file).not.toContain('You repair programs.')
  })

  // Its calls were left out: only those of an assistant are read.
  test('holds a message of an unknown role as it came', () => {
    const odd = { role: 'wizard', content: null, tool_calls: [{ id: 'a', function: { arguments: '{}' } }] }
    const unknown = historyOf([user('The task.'), odd, ...rounds('b', 8, 500)])
    const as = `## #2 other\n\nAs it came:\n\n\`\`\`\n${JSON.stringify(odd)}\n\`\`\`\n`
    expect(fileAfter(unknown, profile, compactionOf(unknown))).toContain(as)
  })

  test('holds the summaries that are new in it', () => {
    const { fold } = compaction
    if (fold === null) throw new Error('nothing was folded')
    const range = { start: 2, end: fold.frontier, except: [] }
    const options = { written: 'The build was made.', systemTokensMax: 0, note: 'A note.' }
    const summaries = [standingSummary(history, range, options)]
    const summarised = { ...compaction, fold: { ...fold, summaries } }
    const withSummary = fileAfter(history, profile, summarised, file)
    expect(withSummary.slice(file.length)).toMatch(
      /^\n# 2026\S+ trigger: a summary\n\n## Summary of #2 to #\d+\n\n```\nThe build was made\.\n```\n\n<!--.*-->\n$/,
    )
    expect(fileAfter(history, profile, summarised, withSummary)).toBe(withSummary)
  })

  // Two runs with the same first request have the same id where the store forgot the first one.
  test('of another conversation that began alike holds everything, whatever the file holds', () => {
    const other = historyOf([...messages.slice(0, 2), ...rounds('other', 16, 500)])
    const made = compactionOf(other)
    const alone = readArchive(fileAfter(other, profile, made))
    expect(readArchive(fileAfter(other, profile, made, file)).slice(-alone.length)).toEqual(alone)
  })

  // A tool's name stood in a heading as it was: whoever opened the file loaded the picture that it names.
  test.each([
    ['bash\n## #9 user\u2028# z', 'bash ## #9 user # z'],
    [
      '![x](https://example.com/a.png)<img src=b>',
      String.raw`!\[x\](https://example.com/a.png)\<img src=b\>`,
    ],
  ])('a name cannot make a heading of its own, nor be a picture or a link: %j', (name, shown) => {
    const named = historyOf([user('The task.'), ...round('a', 'x', name, {}), ...rounds('b', 8, 500)])
    const text = fileAfter(named, profile, compactionOf(named))
    expect(headingsOf(text)).toContain(`#3 result of ${shown}`)
  })
})

const digests = fc.stringMatching(/^[\w-]{16}$/)
const holdings = fc
  .record({
    messages: fc.uniqueArray(fc.integer({ min: 1, max: 60 })),
    summaries: fc.uniqueArray(digests, { maxLength: 3 }),
    point: fc.nat(100_000),
    key: digests,
  })
  .map(({ messages, summaries, ...rest }) => ({
    messages: new Set(messages),
    summaries: new Set(summaries),
    ...rest,
  }))

test('what a file holds is read from its last lines, whatever stands before them', () => {
  const some = fc.array(holdings, { minLength: 1, maxLength: 4 })
  forAll(100, some, fc.string(), fc.option(holdings), (last, text, before) => {
    const lines = last.map(writeHolding).join('')
    const file = `${before === null ? '' : writeHolding(before)}${text}\n${lines}`
    expect(readHoldings(file)).toEqual(last)
    expect(readHoldings(lines)).toEqual(last)
  })
})

test('runs of messages are written as ranges', () => {
  const holding = {
    messages: new Set([3, 2, 4, 7, 9, 10]),
    summaries: new Set<string>(),
    point: 12,
    key: 'k',
  }
  expect(writeHolding(holding)).toBe('<!-- foldgate: holds 2-4,7,9-10 of 12 k; summaries  -->\n')
})

test('a file that says nothing, or broke off after it, holds nothing for certain', () => {
  const line = writeHolding({ messages: new Set([1]), summaries: new Set(), point: 2, key: 'k' })
  for (const text of ['', 'A text.\n', `${line}# more`, line.slice(0, -3), `x${line}`])
    expect(readHoldings(text)).toEqual([])
})

const lineOf = (ranges: string): string => `<!-- foldgate: holds ${ranges} of 3 k; summaries  -->\n`

// Whoever may write in the folder could have stopped the process: each range is walked through.
test('a line that names more messages than there can be, or the same ones often, takes no time', () => {
  const [held] = readHoldings(lineOf('9999990-99999999999999'))
  expect(held?.messages.size).toBe(0)
  // Walked through each time it would outlast the test.
  const [often] = readHoldings(lineOf('1-999999,'.repeat(20_000)))
  expect(often?.messages.size).toBe(999_999)
})

const fenceOf = (text: string): string => fenced(text).split('\n')[0] ?? ''

test('a text stands as it is between two fences, which are longer than those within', () => {
  expect(fenced('a\n  b\r\n')).toBe('```\na\n  b\r\n\n```\n')
  expect(fenceOf('```\ncode\n```')).toBe('~~~')
  expect(fenceOf('```\ncode\n```\n~~~~')).toBe('````')
  expect(fenceOf('a ````` b ~~~ c')).toBe('~~~~')
  // A single line of two million backticks takes no longer than any other of that size.
  expect(fenceOf('`'.repeat(2_000_000))).toBe('~~~')
})

test('whatever a text says, it is read back word for word and ends where it ends', () => {
  const piece = fc.oneof(fc.constantFrom('`', '~', '\n', '# x\n', '```\n', '~~~~\n'), fc.string())
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''))
  forAll(100, text, text, (one, other) => {
    const file = `## one\n\n${fenced(one)}\n## other\n\n${fenced(other)}`
    expect(readArchive(file)).toEqual([
      { heading: 'one', number: null, fences: [one] },
      { heading: 'other', number: null, fences: [other] },
    ])
  })
})
