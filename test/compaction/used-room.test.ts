import { describe, expect, test } from 'vitest'
import { policyOf } from '../support/subject.ts'
import { assistant, prose, round, send, sendGrowing, system, user, type Sent } from './sending.ts'

/** The defaults of a profile. */
const policy = policyOf({
  trigger: 1,
  target: null,
  keep: { recent_messages: 4 },
  recap: { max_tokens: 8192 },
})

const task = user('Find out why the nightly run fails, and repair it.')
const roundsOf = (count: number, tokens: number): object[] =>
  Array.from({ length: count }, (_, number) =>
    round(`c${number}`, prose(`printed by ${number}`, tokens)),
  ).flat()

/** A result that names much. */
const failures = (number: number): string =>
  Array.from(
    { length: 32 },
    (_, line) => `src/part-${number}/file_${line}.ts failed: expected ${number}${line} rows in table_${line}`,
  ).join('\n')

const callsIn = ({ messages }: Sent): number => messages.filter(({ role }) => role === 'assistant').length

// Story: behind rounds of a fifth of the window and more one action was left, and a sixth to two fifths of the room stayed
// unused at every request: room was kept for rounds that could not fit, and calls went with their results.
describe('an agent whose rounds are large', () => {
  test.each([0.2, 0.35, 0.5])('of %f of the window sees most of what it did', (share) => {
    const late = sendGrowing([task, ...roundsOf(24, 12_000 * share)], { budgetTokens: 12_000, policy }).slice(
      13,
    )
    const seen = late.reduce((sum, request) => sum + Math.min(10, callsIn(request)), 0) / late.length
    expect(seen).toBeGreaterThan(7)
    for (const { tokens } of late) expect(tokens).toBeLessThanOrEqual(12_000)
  })

  test('is compacted at every request only where no round more can fit', () => {
    const late = sendGrowing([task, ...roundsOf(24, 4_200)], { budgetTokens: 12_000, policy }).slice(13)
    expect(late.filter(({ isCompacted }) => isCompacted).length).toBeLessThanOrEqual(6)
    const crowded = sendGrowing([task, ...roundsOf(24, 6_500)], { budgetTokens: 12_000, policy }).slice(13)
    for (const { tokens } of crowded) expect(tokens).toBeGreaterThan(12_000 * 0.8)
  })
})

// Story: what was older than the newest round and larger than half of the room was folded whole, or previewed to a few
// lines, in a view that left most of its room unused.
test('a large result keeps head and tail, as long as there is room for them', () => {
  const conversation = [
    task,
    ...roundsOf(6, 900),
    ...round('large', prose('a whole file', 9_000)),
    ...round('small', 'done'),
  ]
  const last = sendGrowing(conversation, { budgetTokens: 12_000, policy }).at(-1)
  const large = last?.contents.find((content) => content.startsWith('a whole file'))
  expect(large?.length ?? 0).toBeGreaterThan(3 * 12_000 * 0.3)
})

// Story: a task of three quarters of the window was cut to a quarter, where a hundred tokens less would have fitted.
test('a task above its share is cut no further than the view needs', () => {
  const long = user(prose('the task', 9_000))
  const { contents, tokens } = send([long, ...round('a', prose('printed', 1_000))], {
    budgetTokens: 10_000,
    policy,
  })
  expect(contents[0]?.length ?? 0).toBeGreaterThan(3 * 5_000)
  expect(tokens).toBeLessThanOrEqual(10_000)
})

// Story: compacted because it was asked for, at a tenth of the window, a task lost half of its words.
describe('a compaction that was asked for', () => {
  const long = user(prose('the task', 9_000))

  test('by a header cuts no pinned message while all of it fits', () => {
    const { contents } = send([long, ...roundsOf(10, 600)], { budgetTokens: 100_000, policy, forced: true })
    expect(contents[0]).toBe(prose('the task', 9_000))
  })

  test('by calls cuts none either', () => {
    const every = policyOf({ ...policy, every: { tool_calls: 5 } })
    const requests = sendGrowing([long, ...roundsOf(20, 300)], { budgetTokens: 20_000, policy: every })
    expect(requests.filter(({ isCompacted }) => isCompacted).length).toBeGreaterThan(2)
    for (const { contents } of requests) expect(contents[0]).toBe(prose('the task', 9_000))
  })
})

// Story: behind thoughts that filled the room the newest result was cut to 24 tokens, then the round was folded.
test.each(['reasoning_content', 'reasoning', 'thinking'])(
  'long thoughts in `%s` are cut, not the newest result',
  (field) => {
    const [call, result] = round('a', prose('printed', 1_200))
    const thinking = { ...call, [field]: prose('I wonder', 6_000) }
    const { messages, contents, tokens } = send([task, thinking, result ?? {}], {
      budgetTokens: 5_500,
      policy,
    })
    expect(contents.at(-1)).toBe(prose('printed', 1_200))
    expect(String(messages.at(-2)?.[field])).toMatch(/^I wonder.*\[clipped: 6000 tokens in all\]/)
    expect(tokens).toBeLessThanOrEqual(5_500)
  },
)

test('signed thoughts are left as they are', () => {
  const [call, result] = round('a', prose('printed', 3_000))
  const blocks = [{ type: 'thinking', thinking: prose('I wonder', 1_000), signature: 'c2lnbmVk' }]
  const thinking = { ...call, thinking_blocks: blocks }
  const { messages } = send([task, thinking, result ?? {}], { budgetTokens: 3_000, policy })
  expect(messages.at(-2)?.['thinking_blocks']).toEqual(blocks)
})

// Story: system messages behind the newest result took room that was counted as the result's and the recap's.
test('a large system message in the newest round leaves the result its share of what is left', () => {
  const conversation = [task, ...roundsOf(8, 600), system(prose('a new rule', 4_500)), assistant('Noted.')]
  const { contents, tokens } = send(conversation.slice(0, -1), { budgetTokens: 6_000, policy })
  expect(contents.at(-1)).toBe(prose('a new rule', 4_500))
  expect(contents.at(-2)).toBe(prose('printed by 7', 600))
  expect(tokens).toBeLessThanOrEqual(6_000)
})

// Story: the second compaction made the recap anew for what was folded alone, which was little, and left out what it had
// cleared behind the fold. The recap fell from 5,500 characters to 1,200, with half of the room unused.
test('a later compaction tells what it clears, too', () => {
  const rounds = Array.from({ length: 16 }, (_, number) => round(`c${number}`, failures(number))).flat()
  const recaps = sendGrowing([task, ...rounds], { budgetTokens: 6_000, policy })
    .filter(({ isCompacted }) => isCompacted)
    .map(({ contents }) => contents.find((content) => content.includes('conversation-recap'))?.length ?? 0)
  expect(recaps.length).toBeGreaterThan(1)
  expect(Math.min(...recaps)).toBeGreaterThan(Math.max(...recaps) / 2)
})

// Story: a newest user message of 44 % of the room, whose share is three quarters, was clipped, and so was the reply before
// it, beside a recap that took its third in the plan and half of that in the view.
test('a recap gives way before a newest user message that has no more than its share', () => {
  const said = [7_368, 3_125, 8_829, 308, 681, 6_991, 7_767, 97, 7_426].map((tokens, number) =>
    (number % 2 === 0 ? user : assistant)(prose(`said ${number}`, tokens)),
  )
  const { contents, tokens } = send([system(prose('Be brief', 7_204)), ...said], {
    budgetTokens: 24_000,
    policy,
  })
  expect(contents.at(-1)).toBe(prose('said 8', 7_426))
  expect(contents.at(-2)).toBe(prose('said 7', 97))
  expect(tokens).toBeLessThanOrEqual(24_000)
})

// Story: task, latest user message, newest round and the least recap came to all of the room. The margin that what is cut
// stays below the budget was taken from the newest result, of which 27 tokens went.
test('a recap gives way before a newest result that has no more than its share', () => {
  const conversation = [
    user(prose('the task', 1_500)),
    ...roundsOf(4, 400),
    assistant('Done.'),
    user(prose('the latest', 1_500)),
    ...roundsOf(4, 400),
    ...round('newest', prose('printed last', 1_470)),
  ]
  const { contents, tokens } = send(conversation, { budgetTokens: 4_000, policy })
  expect(contents.at(-1)).toBe(prose('printed last', 1_470))
  expect(tokens).toBeLessThanOrEqual(4_000)
})

// Story: what is cut to fit stays half a percent below the budget. A newest user message that fits alone, but not below
// that, was taken for one that cannot fit: it went out whole, with 7,000 tokens of task, 6,000 above the budget.
test.each([0.99, 0.995, 0.998, 0.9995])(
  'a newest user message of %f of the room is sent within the budget',
  (share) => {
    const newest = user(prose('the newest', Math.floor(24_000 * share) - 12))
    const { contents, tokens } = send([user(prose('the task', 7_000)), ...roundsOf(4, 600), newest], {
      budgetTokens: 24_000,
      policy,
    })
    expect(tokens).toBeLessThanOrEqual(24_000)
    expect(contents.at(-1)?.length ?? 0).toBeGreaterThan(3 * 24_000 * 0.74)
  },
)

// Story: a view that came to within three tokens of the budget was sent, as nothing had to be cut for it. The upstream took
// its tools for twenty tokens more and its calls for sixteen less than we do, and refused it.
test.each([7_640, 7_720, 7_800, 7_880])(
  'beside a newest reply of %i tokens a new view leaves room for the doubt in its count',
  (size) => {
    const [call, result] = round('newest', prose('printed last', 300))
    const newest = [{ ...call, ...assistant(prose('thinking', size)) }, result ?? {}]
    const conversation = [user(prose('the task', 1_900)), ...roundsOf(18, 700), ...newest]
    const { tokens } = send(conversation, { budgetTokens: 12_000, policy })
    expect(tokens).toBeLessThanOrEqual(12_000 * 0.995)
  },
)

test('a result of a few words is not replaced by as many', () => {
  const short = Array.from({ length: 30 }, (_, number) => round(`c${number}`, 'Replaced two lines.')).flat()
  const { contents } = send([task, ...short, ...roundsOf(4, 900)], { budgetTokens: 4_000, policy })
  expect(contents.join('\n')).not.toMatch(/\[cleared: result of read_file, \d\d? tokens/)
})
