import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compactionUpTo,
  FOLD_VERSION,
  readCompaction,
  writeCompaction,
  type Compaction,
} from '../../src/compaction/compaction.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import { viewUnder } from '../../src/compaction/view/view.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { compactedUnder } from '../support/compacted.ts'
import { profileOf, historyOf } from '../support/subject.ts'
import { assistant, prose, round, rounds, send, sendGrowing, system, user } from './sending.ts'
import { forAll, propertyRuns } from '../support/property-runs.ts'

const task = user(prose('The task', 500))

// Story: a user pasted a file larger than the window. To make room the task was cut and the recap left out;
// and because both were carried on from compaction to compaction, the task stayed cut and everything folded stayed
// without a recap long after the file had gone.
test('after one message larger than the window the task and a recap are there again, and everything fits', () => {
  const paste = prose('pasted', 3100)
  const begun = [task, ...rounds('a', 8, 200), assistant('Half of it is done.'), user(paste)]
  const after = [assistant('That is too long for me.'), user('Then go on without it.')]
  const requests = sendGrowing([...begun, ...after, ...rounds('b', 20, 200)], { budgetTokens: 3000 })
  const pasted = requests.findIndex(({ contents }) => contents.at(-1) === paste)
  expect(requests[pasted]?.contents[0]).toMatch(/^The task: and the words go on/)
  for (const { tokens } of requests.slice(pasted + 1)) expect(tokens).toBeLessThanOrEqual(3000)
  expect(requests.at(-1)?.texts[0]).toBe(JSON.stringify(task))
  expect(requests.at(-1)?.contents[1]).toMatch(/^<conversation-recap>\n\d+ earlier messages/)
})

// A request with a large output limit leaves little room; those after it have the usual one again.
test('a message that was clipped in the open round keeps the same bytes until it is folded, and does not come back', () => {
  const written = { path: 'src/queue.ts', text: prose('huge', 5000) }
  const begun = [task, ...rounds('a', 3, 200), ...round('huge', 'ok', 'write_file', written)]
  const cut = send(begun, { budgetTokens: 3000 })
  const known = { newest: cut.compaction, seenUntil: begun.length }
  const profile = profileOf({ clear: { enabled: false } })
  const later = sendGrowing([...begun, ...rounds('b', 100, 200)], { budgetTokens: 14_000, profile, ...known })
  const clipped = [cut, ...later].map(({ texts }) => texts.find((text) => text.includes('[clipped: ')))
  const folded = clipped.indexOf(undefined)
  expect(folded).toBeGreaterThan(10)
  expect(new Set(clipped.slice(0, folded)).size).toBe(1)
  expect(new Set(clipped.slice(folded))).toEqual(new Set([undefined]))
  expect(later.at(-1)?.contents[1]).toContain('<conversation-recap>')
})

const folded = {
  frontier: 20,
  kept: [3, 5],
  restated: [],
  beforeTokensMax: 600,
  afterTokensMax: 424,
  systemTokensMax: 200,
  keptTokensMax: 0,
  summaries: [],
  recapsBeside: true,
}

describe('a compaction on record', () => {
  const compaction: Compaction = {
    version: 1,
    reason: 'trigger',
    point: 40,
    task: 2,
    latestUser: 17,
    reach: { render: 30, preview: 30, clear: 24 },
    fold: folded,
    clips: [
      { kind: 'content', index: 38, of: 'rendered', tokensMax: 900 },
      { kind: 'media', index: 17, mediaKept: 2 },
    ],
    cleared: [26, 35],
    thoughts: [33],
  }

  // Members of a fold came back in another order than they were made in. So each new compaction was taken for another
  // replica's, and its conversation walked once more.
  test('reads back as it was written, as the same text', () => {
    expect(JSON.stringify(readCompaction(writeCompaction(compaction, 2), 2))).toBe(JSON.stringify(compaction))
    const bare = { ...compaction, task: -1, latestUser: -1, fold: null, clips: [], cleared: [] }
    expect(readCompaction(writeCompaction(bare, 2), 2)).toEqual(bare)
  })

  test('reads back where it was written before folds kept anything', () => {
    const { kept: _, ...fold } = folded
    const read = readCompaction(JSON.stringify({ ...compaction, fold }), 0)
    expect(read).toEqual({ ...compaction, fold: { ...fold, kept: [] } })
  })

  // A record that names a pass of a later release was none: a replica that still ran this one missed the cache.
  test('of a release with other passes is followed as far as they are known, in the same order', () => {
    const { render = 0, preview = 0, clear = 0 } = compaction.reach
    const other = { ...compaction, reach: { later: 7, clear, preview, render } }
    expect(JSON.stringify(readCompaction(JSON.stringify(other), 0))).toBe(JSON.stringify(compaction))
  })

  test('of a release that cleared all up to a point is read as one that clears none singly', () => {
    const { cleared: _, ...earlier } = compaction
    expect(readCompaction(JSON.stringify(earlier), 0)).toEqual({ ...compaction, cleared: [] })
  })

  test('follows the conversation where a system message is added or dropped in front', () => {
    expect(readCompaction(writeCompaction(compaction, 2), 0)).toMatchObject({
      point: 38,
      task: 0,
      latestUser: 15,
      reach: { render: 28, preview: 28, clear: 22 },
      fold: { frontier: 18, kept: [1, 3], beforeTokensMax: 600 },
      clips: [{ index: 36 }, { index: 15 }],
      cleared: [24, 33],
    })
  })

  test.each<[string, unknown]>([
    ['no object', 7],
    ['null', null],
    ['a list', [compaction]],
    ['an empty object', {}],
    ['no version', { ...compaction, version: undefined }],
    ['an unknown reason', { ...compaction, reason: 'boredom' }],
    ['a broken point', { ...compaction, point: 1.5 }],
    ['a point that is text', { ...compaction, point: '40' }],
    ['no reach', { ...compaction, reach: null }],
    ['a reach that is no index', { ...compaction, reach: { render: 'all' } }],
    ['no fold', { ...compaction, fold: undefined }],
    ['kept messages that are no list', { ...compaction, fold: { ...folded, kept: 3 } }],
    ['a kept message that is none', { ...compaction, fold: { ...folded, kept: ['3'] } }],
    ['half a fold', { ...compaction, fold: { frontier: 20 } }],
    ['clips that are no list', { ...compaction, clips: { 0: compaction.clips[0] } }],
    ['a clip without a size', { ...compaction, clips: [{ index: 38 }] }],
    ['a clip that is none', { ...compaction, clips: [null] }],
    ['a cleared result that is none', { ...compaction, cleared: ['26'] }],
  ])('is none where it is damaged: %s', (_, value) => {
    expect(readCompaction(JSON.stringify(value), 0)).toBeNull()
  })

  test('is none where its text was cut off anywhere', () => {
    const text = writeCompaction(compaction, 0)
    for (let length = 0; length < text.length; length += 1)
      expect(readCompaction(text.slice(0, length), 0)).toBeNull()
  })

  test('makes the same view in another process as in the one that wrote it', () => {
    const messages = [system('Be brief.'), task, ...rounds('a', 40, 200)]
    const first = send(messages, { budgetTokens: 4000 })
    const record = first.compaction === null ? '' : writeCompaction(first.compaction, 1)
    const again = send(messages, { budgetTokens: 4000, newest: readCompaction(record, 1) })
    expect(again.compaction).toEqual(first.compaction)
    expect(again.texts).toEqual(first.texts)
  })
})

const policies = fc.constantFrom(
  profileOf({ render: { at: 0.3 }, preview: { at: 0.3, threshold_tokens: 100 } }),
  profileOf({ clear: { keep_results: 1 } }),
  profileOf({ keep: { task: false }, limit: { turns: 3 } }),
)

/** The texts of the messages before `point` that stand in the view of a compaction, by their index. */
function textsBefore(messages: readonly object[], profile: Profile, compaction: Compaction, point: number) {
  const history = historyOf(messages)
  const cache = createMadeCache({ bytesMax: 10_000_000 })
  const view = runAtOnce(viewUnder(history, cache, { profile, compaction, strict: false }))
  const texts = new Map<number, string>()
  for (const { index, item } of view.messages) {
    if (index === null || index >= point) continue
    const { start = 0, end = 0 } = history.messages[index] ?? {}
    texts.set(index, item.kind === 'made' ? item.json : history.source.text(start, end))
  }
  return texts
}

test('what lies before the point is treated as it was, whatever follows there now, and nothing behind it is', () => {
  let followed = 0
  const budget = fc.integer({ min: 1_500, max: 9_000 })
  forAll(40, conversation, policies, budget, (messages, profile, budgetTokens) => {
    const history = historyOf(messages)
    const { compaction } = compactedUnder(history, { profile, budgetTokens, forced: true })
    fc.pre(compaction !== null)
    const { systemCount, requestPoints } = history.structure
    for (const point of requestPoints) {
      if (point <= systemCount) continue
      const within = compactionUpTo(compaction, point)
      if (within === null || within === compaction) continue
      followed += 1
      expect(within.point).toBe(point)
      expect(compactionUpTo(within, point)).toBe(within)
      expect(readCompaction(writeCompaction(within, systemCount), systemCount)).toEqual(within)
      const otherwise = [...messages.slice(0, point), assistant('Otherwise.'), user('Go on, please.')]
      const before = textsBefore(messages, profile, compaction, point)
      expect(textsBefore(otherwise, profile, within, point)).toEqual(before)
      // Without what follows the treatment is the same: it rests on nothing there.
      expect(textsBefore(messages.slice(0, point), profile, within, point)).toEqual(before)
    }
  })
  // What is never tried is not shown.
  expect(followed).toBeGreaterThan(propertyRuns(40))
})

describe('of a compaction up to a point', () => {
  const clip = { kind: 'content', of: 'kept', tokensMax: 100 } as const
  const clips = [
    { ...clip, index: 12 },
    { ...clip, index: 17 },
  ]
  const reach = { render: 16, preview: 8, clear: 0 }
  const fold = { ...folded, frontier: 10, kept: [], beforeTokensMax: 500 }
  const pinned = { task: 1, latestUser: 18 }
  const version = FOLD_VERSION
  const whole: Compaction = {
    version,
    reason: 'trigger',
    point: 20,
    ...pinned,
    reach,
    fold,
    clips,
    cleared: [13, 15],
    thoughts: [11, 16],
  }

  test('nothing is left of what it folded or pinned as the task behind it, nor where nothing lies before it', () => {
    expect(compactionUpTo(whole, 10)).not.toBeNull()
    expect(compactionUpTo(whole, 9)).toBeNull()
    expect(compactionUpTo({ ...whole, fold: null, task: 14 }, 14)).toBeNull()
    const clipsOnly = { ...whole, fold: null, cleared: [], reach: { render: 0, preview: 0, clear: 0 } }
    expect(compactionUpTo(clipsOnly, 12)).toBeNull()
    expect(compactionUpTo(clipsOnly, 13)?.clips).toHaveLength(1)
    const clearedOnly = { ...clipsOnly, clips: [], cleared: [13, 15] }
    expect(compactionUpTo(clearedOnly, 13)).toBeNull()
    expect(compactionUpTo(clearedOnly, 14)?.cleared).toEqual([13])
  })
})
