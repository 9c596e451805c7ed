import { chatCompletions } from '../../../src/formats/chat/chat.ts'
import { modelKeyOf } from '../../../src/models/model-record.ts'
import type { Form } from '../../../src/pipeline/request.ts'
import { expect, test } from 'vitest'
import { createMadeCache } from '../../../src/compaction/made-cache.ts'
import { createFactsReader } from '../../../src/formats/entry-facts.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { nothingCounted } from '../../../src/models/counts/counts.ts'
import { resolveWindow } from '../../../src/models/resolve-window.ts'
import { profileSchema } from '../../../src/profiles/schema.ts'
import { createMeasure } from '../../../src/pipeline/measure/measure.ts'
import type { Records } from '../../../src/pipeline/records/records.ts'
import { digest, readBytes } from '../../../src/pipeline/read/read-chat.ts'
import { dryRun, filledView, nextForm } from '../../../src/pipeline/compact/forms.ts'
import { bytesOf } from '../../../src/pipeline/send/outgoing-body.ts'
import { rounds, user } from '../../compaction/sending.ts'
import { unknownWindow } from '../../support/models.ts'

const profile = { ...profileSchema.parse({ window: { tokens: 16_000 } }), name: 'default' }
const modelKey = modelKeyOf('default', '', 'gpt-4o', 'http://upstream')

/** What forms are made with, and what was recorded. */
function recordingParts() {
  const recorded: string[] = []
  const records: Pick<Records, 'keep' | 'replace'> = {
    keep: async (_, compaction) => {
      recorded.push('kept')
      return compaction
    },
    replace: async () => void recorded.push('replaced'),
  }
  const cache = createMadeCache({ bytesMax: 1_000_000 })
  return { recorded, parts: { cache, records, keepTaken: async () => true } }
}

async function requestWith(messages: readonly object[]) {
  const bytes = Buffer.from(JSON.stringify({ model: 'gpt-4o', messages }))
  const chat = await readBytes(chatCompletions, bytes, 'test', {
    readFacts: createFactsReader(digest, { entriesMax: 1000 }),
    limits: bodyLimits,
  })
  if (typeof chat === 'string') throw new Error(`the test made a body that is not read: ${chat}`)
  const measure = createMeasure({
    counts: nothingCounted,
    wantsCount: () => false,
    holdsLimit: () => false,
    onGuess: () => {},
  })
  const window = resolveWindow({ ...unknownWindow, configuredTokens: 16_000, names: ['gpt-4o'] })
  const place = { scope: 'test', profile: 'default', model: 'm' }
  const { counted } = await measure(
    { chat, profile, modelKey, place, recall: null, remembered: { conversation: 'c', compaction: null } },
    { model: 'gpt-4o', window, mustCount: true },
  )
  if (counted === null) throw new Error('the request was not counted')
  return {
    counted,
    request: {
      chat,
      profile,
      place,
      remembered: { conversation: 'c', compaction: null, seenUntil: null, sharedUntil: null },
      strict: false,
    },
  }
}

const bodyOf = ({ chat, pieces }: Form): string => bytesOf(chat.bytes, pieces).toString()

test('a dry run makes what a request would make, and records nothing', async () => {
  const { request, counted } = await requestWith([user('The task.'), ...rounds('a', 60, 1200)])
  const { parts, recorded } = recordingParts()
  const dry = await dryRun(request, counted, false, parts.cache)
  expect(recorded).toEqual([])
  expect(dry.isRewritten).toBe(true)
  const made = await nextForm(request, counted, { forced: false, foldFor: async () => null }, parts)
  expect(recorded).toEqual(['kept'])
  expect(bodyOf(dry)).toBe(bodyOf(made))
  expect(dry.sentTokens).toBe(made.sentTokens)
})

test('a dry run of a small conversation leaves it as it is, and forced makes a compaction', async () => {
  const { request, counted } = await requestWith([user('The task.'), ...rounds('a', 12, 300)])
  const { parts, recorded } = recordingParts()
  const dry = await dryRun(request, counted, false, parts.cache)
  expect(dry.isRewritten).toBe(false)
  expect(bodyOf(dry)).toBe(request.chat.bytes.toString())
  const forced = await dryRun(request, counted, true, parts.cache)
  expect(forced.compacted?.compaction?.reason).toBe('forced')
  expect(recorded).toEqual([])
})

/** Plans views that come out at a share of what they were planned with, and notes each. */
const planner =
  (share: number, plans: number[] = []) =>
  async (plannedTokens: number) => {
    plans.push(plannedTokens)
    return { sentTokens: Math.floor(plannedTokens * share) }
  }

test.each([1, 0.9, 0.7, 0.5])('a view that comes out at %s of its plan fills the budget', async (share) => {
  const view = await filledView(10_000, planner(share))
  expect(view?.sentTokens).toBeLessThanOrEqual(10_000)
  expect(view?.sentTokens).toBeGreaterThan(9_500)
})

test('one that fills it at once is planned once, and none more than five times', async () => {
  const plans: number[] = []
  await filledView(10_000, planner(0.99, plans))
  expect(plans).toEqual([10_000])
  plans.length = 0
  await filledView(10_000, planner(0.1, plans))
  expect(plans).toHaveLength(5)
})

test('what would be beyond the budget is not taken', async () => {
  // Messages are as large as they are: the next view is far larger.
  const view = await filledView(10_000, async (planned) => ({
    sentTokens: planned < 12_000 ? 6_000 : 11_000,
  }))
  expect(view).toEqual({ sentTokens: 6_000 })
})

test('where nothing can be taken away with more, what there is stays; where nothing can at all, there is none', async () => {
  const once = { sentTokens: 5_000 }
  expect(await filledView(10_000, async (planned) => (planned === 10_000 ? once : null))).toBe(once)
  expect(await filledView(10_000, async () => null)).toBeNull()
})

test('a smallest form that exceeds the budget is what there is', async () => {
  const view = { sentTokens: 12_000 }
  expect(await filledView(10_000, async () => view)).toBe(view)
})
