import { describe, expect, test } from 'vitest'
import { viewUnder } from '../../src/compaction/view/view.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import { readCompaction, writeCompaction, type Compaction } from '../../src/compaction/compaction.ts'
import { summaryNote, withoutFile } from '../../src/compaction/standing-summary.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { standingSummary } from '../support/at-once.ts'
import { profileOf, historyOf, viewTexts } from '../support/subject.ts'
import { rounds, send, system, user, type SentMessage } from './sending.ts'

const history = historyOf([system('You repair programs.'), user('The task.'), ...rounds('a', 20, 200)])
const { systemCount } = history.structure
const profile = profileOf()
const made = send(history, { budgetTokens: 2500, profile }).compaction
if (made === null || made.fold === null) throw new Error('nothing was folded')
const base = { ...made, fold: made.fold }
const range = { start: 2, end: base.fold.frontier, except: [] }
const path = '/var/lib/kept/abcdefgh-_012345.md'

const summary = (note: string, written = 'Much was done.') =>
  standingSummary(history, range, { written, systemTokensMax: 0, note })

const compactionWith = (note: string): Compaction => ({
  ...base,
  fold: { ...base.fold, summaries: [summary(note)] },
})

/** The summary as it is sent, and what the view weighs. */
function sentUnder(compaction: Compaction) {
  const cache = createMadeCache({ bytesMax: 1_000_000 })
  const view = runAtOnce(viewUnder(history, cache, { profile, compaction, strict: false }))
  const texts = viewTexts(history, view)
  const messages = texts.map((text): SentMessage => JSON.parse(text))
  const found = messages.find(({ content }) => String(content).startsWith('<conversation-summary>'))
  return { content: String(found?.content), tokens: view.tokens }
}

describe('what a summary says of where its messages can be read back', () => {
  test('their names, their file, both or nothing', () => {
    const of = { start: 2, end: 42, except: [2, 41] }
    const [names, where] = [
      'These were messages #3 to #40.',
      `What they said stands word for word in the file ${path}`,
    ]
    expect(summaryNote(of, 1, { namesMessages: true, file: null })).toBe(names)
    expect(summaryNote(of, 1, { namesMessages: false, file: path })).toBe(where)
    expect(summaryNote(of, 1, { namesMessages: true, file: path })).toBe(`${names}\n${where}`)
    expect(summaryNote(of, 1, { namesMessages: false, file: null })).toBe('')
  })

  // All messages of the range were listed for the names of two: 27 ms without a pause for 200,000 messages.
  test('looks at the ends of a range alone for their names', () => {
    let reads = 0
    const except = new Proxy([2, 500, 999], {
      get: (numbers, name) => {
        reads += 1
        return Reflect.get(numbers, name)
      },
    })
    const note = summaryNote({ start: 2, end: 1_000, except }, 1, { namesMessages: true, file: null })
    expect(note).toBe('These were messages #3 to #998.')
    expect(reads).toBeLessThan(100)
  })

  test('stands behind the introduction, and is counted', () => {
    const note = 'A note of where to look.'
    const [plain, noted] = [sentUnder(compactionWith('')), sentUnder(compactionWith(note))]
    const lines = plain.content.split('\n')
    expect(lines[1]).toMatch(/This stands for them:$/)
    expect(noted.content.split('\n')).toEqual(lines.toSpliced(2, 0, note))
    expect(noted.tokens).toBe(plain.tokens + history.count(noted.content) - history.count(plain.content))
  })

  test('is no part of its text, and cannot end the tag that it stands in', () => {
    const { text, note } = summary('/kept/</conversation-summary>/x.md')
    expect(text).toBe('Much was done.')
    expect(note).not.toContain('</conversation-summary>')
  })

  test('is kept in the record', () => {
    for (const each of [compactionWith('A note.'), compactionWith('')]) {
      const read = readCompaction(writeCompaction(each, systemCount), systemCount)
      // Compactions are compared as text.
      expect(JSON.stringify(read)).toBe(JSON.stringify(each))
    }
  })

  test('loses the file where it could not be written, but not of a summary whose messages are in it', () => {
    const both = summaryNote(range, systemCount, { namesMessages: true, file: path })
    const [standing, fresh] = [summary(both), summary(both, 'More was done.')]
    const fold = { frontier: range.end, kept: [], summaries: [standing, fresh] }
    const options = { standing: [standing], namesMessages: true }
    const bareNote = summaryNote(range, systemCount, { namesMessages: true, file: null })
    expect(runAtOnce(withoutFile(history, fold, options)).summaries).toEqual([
      standing,
      summary(bareNote, 'More was done.'),
    ])
  })
})
