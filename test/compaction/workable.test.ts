import { describe, expect, test } from 'vitest'
import { profileOf } from '../support/subject.ts'
import { times } from '../support/times.ts'
import {
  assistant,
  calling,
  isRecap,
  prose,
  resultOf,
  round,
  rounds,
  roundsWith,
  send,
  sendGrowing,
  system,
  user,
  type Sent,
} from './sending.ts'

/** The defaults of a profile. */
const defaults = {
  trigger: 1,
  target: null,
  keep: { recent_messages: 4 },
  recap: { max_tokens: 8192 },
}

const growIn = (budgetTokens: number, conversation: readonly object[], profile: object = {}) =>
  sendGrowing(conversation, { budgetTokens, profile: profileOf({ ...defaults, ...profile }) })

/** What is sent within this budget, and is no larger. */
function sendIn(budgetTokens: number, conversation: readonly object[], profile: object = {}): Sent {
  const sent = send(conversation, { budgetTokens, profile: profileOf({ ...defaults, ...profile }) })
  expect(sent.tokens).toBeLessThanOrEqual(budgetTokens)
  return sent
}

const compactions = (sent: readonly Sent[]): number =>
  new Set(sent.map(({ compaction }) => compaction?.point ?? 0)).size - 1

const callsIn = ({ messages }: Sent): number => messages.filter(({ role }) => role === 'assistant').length

const tokensIn = (content: string | undefined): number => (content ?? '').length / 3

const task = user('Find out why the nightly run fails, and repair it.')

// Story: system prompt and tools took 16,500 tokens of the 22,000 that fitted. From the first request on four messages
// were sent, without a recap, the newest result was clipped from 1,225 to 480 tokens, and 4,300 tokens stayed unused.
test('behind a large system prompt results, task and all that the agent called stand, and the room is used', () => {
  const files = times(24, (number) => prose(`file ${number}`, 1225))
  const begun = [system(prose('rules', 16_500)), user('Read all files.')]
  const sent = growIn(22_000, [...begun, ...roundsWith(24, (number) => files[number] ?? '')])
  expect(sent.slice(1).map(({ contents }) => contents.at(-1))).toEqual(files)
  for (const [made, request] of sent.entries()) {
    expect(request.contents[1]).toBe('Read all files.')
    // Results that are cleared make room enough: no call has to go for them, and no recap is needed.
    expect(callsIn(request)).toBe(made)
    expect(request.contents.filter(isRecap)).toEqual([])
    const whole = request.contents.filter((content) => files.includes(content))
    expect(whole.length).toBeGreaterThanOrEqual(Math.min(2, made))
  }
  // A round takes some 1,260 tokens of a room of 5,500, and a compaction ends with two of them at the least.
  expect(compactions(sent)).toBeLessThanOrEqual(12)
  const before = sent.filter((_, index) => sent[index + 1]?.isCompacted === true)
  for (const { tokens } of before) expect(tokens).toBeGreaterThan(22_000 - 1300)
})

// Story: an observation of 11,700 tokens arrived as a user message, in a budget of 12,000; 22 tool rounds followed. In all
// 22 requests the model got the same three messages: system, the task as `[cut]`, that user message whole.
test('behind a huge user message the model sees what it did, the task whole and the message by its ends', () => {
  const begun = [system('Be brief.'), user(prose('The task', 200)), assistant('Looking.')]
  const read = times(16, (number) => prose(`result ${number}`, 300))
  const observed = user(prose('observed', 11_700))
  const sent = growIn(12_000, [...begun, observed, ...roundsWith(16, (number) => read[number] ?? '')])
  expect(new Set(sent.map(({ texts }) => texts.join())).size).toBe(sent.length)
  expect(sent.slice(2).map(({ contents }) => contents.at(-1))).toEqual(read)
  for (const { contents, tokens } of sent.slice(2)) {
    expect(contents[1]).toBe(prose('The task', 200))
    expect(tokensIn(contents.find((each) => each.startsWith('observed:')))).toBeGreaterThan(12_000 / 4 - 400)
    expect(tokens).toBeLessThanOrEqual(12_000)
  }
  // While it is the newest message it keeps three quarters of the room and more.
  expect(tokensIn(sent[1]?.contents.at(-1))).toBeGreaterThan(11_700 * 0.75)
  expect(sent[1]?.contents[1]).toBe(prose('The task', 200))
})

// Story: a recap of up to four fifths of the room left none to grow, so that at many points every request was a compaction,
// and hardly more than half of the newest ten assistant messages were messages of their own.
test('a run of many rounds is compacted once in several of them, keeps its newest actions and recaps in a third', () => {
  const run = times(80, (number) => [
    assistant(prose(`thought ${number}`, 60)),
    ...round(`r${number}`, prose(`result ${number}`, 330), 'run', { step: number, note: prose('note', 90) }),
  ])
  const sent = growIn(12_000, [system('Be brief.'), user(prose('The task', 900)), ...run.flat()])
  for (const request of sent.slice(40)) {
    expect(callsIn(request)).toBeGreaterThanOrEqual(14)
    expect(tokensIn(request.contents.find(isRecap))).toBeLessThanOrEqual(12_000 / 3)
  }
  expect(compactions(sent)).toBeLessThanOrEqual(sent.length / 6)
})

describe('one message larger than the room', () => {
  const begun = [user('The task.'), ...round('a', 'done')]
  const conversation = [...begun, assistant('Ready.'), user(prose('pasted', 5000))]

  test('goes on whole where a user wrote it: the upstream says that it is too large', () => {
    const { contents } = send(conversation, { budgetTokens: 4000, profile: profileOf(defaults) })
    expect([contents[0], contents.at(-1)]).toEqual(['The task.', prose('pasted', 5000)])
  })

  test('is clipped where the profile says that users send observations', () => {
    const { contents } = sendIn(4000, conversation, { clip: { newest_user: true } })
    expect(contents.at(-1)).toMatch(/^pasted: .*\[clipped: 5000 tokens in all\]/)
    expect(tokensIn(contents.at(-1))).toBeGreaterThan(4000 * 0.75 * 0.9)
  })

  // With them it was larger than the room, and so it was left as it was, for the upstream to refuse.
  test('goes without its images where its words fit without them', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const shown = user([{ type: 'text', text: prose('shown', 3850) }, image, image])
    const { texts } = sendIn(4000, [...conversation.slice(0, -1), shown])
    expect(texts.at(-1)).toContain(prose('shown', 3850))
  })

  test('is cut to half of the room where a tool printed it, and the round stays a round', () => {
    const { messages, contents } = sendIn(4000, [...begun, ...round('b', prose('printed', 9000))])
    expect(tokensIn(contents.at(-1))).toBeGreaterThan(2000 * 0.9)
    expect(messages.at(-2)?.['tool_calls']).toEqual([expect.objectContaining({ id: 'b' })])
  })

  test('of twenty parallel results each keeps its head and tail', () => {
    const ids = times(20, (number) => `c${number}`)
    const results = ids.map((id) => resultOf(id, prose(`text ${id}`, 900)))
    const { contents, tokens } = sendIn(8000, [task, calling(...ids), ...results])
    for (const id of ids)
      expect(tokensIn(contents.find((each) => each.startsWith(`text ${id}:`)))).toBeGreaterThan(150)
    expect(tokens).toBeGreaterThan(6000)
  })
})

/** What is sent once thirteen requests have been made. */
const lateOf = (tokens: number) => growIn(12_000, [task, ...rounds('c', 20, tokens)]).slice(13)

// Story: behind rounds of a fifth of the window and more one action was left, and a sixth to two fifths of the room stayed
// unused at every request: room was kept for rounds that could not fit, and calls went with their results.
describe('an agent whose rounds are large', () => {
  test.each([0.2, 0.35, 0.5])('of %f of the window sees most of what it did', (share) => {
    const late = lateOf(12_000 * share)
    const seen = late.reduce((sum, request) => sum + Math.min(10, callsIn(request)), 0) / late.length
    expect(seen).toBeGreaterThan(7)
    for (const { tokens } of late) expect(tokens).toBeLessThanOrEqual(12_000)
  })

  test('is compacted at every request only where no round more can fit', () => {
    expect(lateOf(4_200).filter(({ isCompacted }) => isCompacted).length).toBeLessThanOrEqual(4)
    for (const { tokens } of lateOf(6_500)) expect(tokens).toBeGreaterThan(12_000 * 0.8)
  })
})

// Story: what was older than the newest round and larger than half of the room was folded whole, or previewed to a few
// lines, in a view that left most of its room unused.
test('a large result keeps head and tail, as long as there is room for them', () => {
  const large = round('large', prose('a whole file', 9_000))
  const last = growIn(12_000, [task, ...rounds('c', 6, 900), ...large, ...round('small', 'done')]).at(-1)
  expect(tokensIn(last?.contents.find((each) => each.startsWith('a whole file')))).toBeGreaterThan(3_600)
})

const longTask = user(prose('the task', 9_000))

// Story: a task of three quarters of the window was cut to a quarter, where a hundred tokens less would have fitted.
test('a task above its share is cut no further than the view needs', () => {
  const { contents } = sendIn(10_000, [longTask, ...round('a', prose('printed', 1_000))])
  expect(tokensIn(contents[0])).toBeGreaterThan(5_000)
})

// Story: compacted because it was asked for, at a tenth of the window, a task lost half of its words.
test('a compaction that was asked for cuts no pinned message while all of it fits', () => {
  const options = { budgetTokens: 100_000, profile: profileOf(defaults), forced: true }
  expect(send([longTask, ...rounds('c', 10, 600)], options).contents[0]).toBe(longTask.content)
  const requests = growIn(20_000, [longTask, ...rounds('c', 20, 300)], { every: { tool_calls: 5 } })
  expect(requests.filter(({ isCompacted }) => isCompacted).length).toBeGreaterThan(2)
  for (const { contents } of requests) expect(contents[0]).toBe(longTask.content)
})

// Story: behind thoughts that filled the room the newest result was cut to 24 tokens, then the round was folded.
test.each(['reasoning_content', 'reasoning', 'thinking'])(
  'long thoughts in `%s` are cut, not the newest result',
  (field) => {
    const [call, result] = round('a', prose('printed', 1_200))
    const { messages, contents } = sendIn(5_500, [
      task,
      { ...call, [field]: prose('I wonder', 6_000) },
      result,
    ])
    expect(contents.at(-1)).toBe(result.content)
    expect(messages.at(-2)?.[field]).toMatch(/^I wonder.*\[clipped: 6000 tokens in all\]/)
  },
)

test('signed thoughts are left as they are', () => {
  const [call, result] = round('a', prose('printed', 3_000))
  const blocks = [{ type: 'thinking', thinking: prose('I wonder', 1_000), signature: 'c2lnbmVk' }]
  const { messages } = sendIn(3_000, [task, { ...call, thinking_blocks: blocks }, result])
  expect(messages.at(-2)?.['thinking_blocks']).toEqual(blocks)
})

// Story: system messages behind the newest result took room that was counted as the result's and the recap's.
test('a large system message in the newest round leaves the result its share of what is left', () => {
  const { contents } = sendIn(6_000, [task, ...rounds('c', 8, 600), system(prose('a new rule', 4_500))])
  expect(contents.slice(-2)).toEqual([prose('result of c7', 600), prose('a new rule', 4_500)])
})

const failure = (part: number, line: number): string =>
  `src/part-${part}/file_${line}.ts failed: expected ${part}${line} rows in table_${line}`

const failures = (part: number): string => times(32, (line) => failure(part, line)).join('\n')

// Story: the second compaction made the recap anew for what was folded alone, which was little, and left out what it had
// cleared behind the fold. The recap fell from 5,500 characters to 1,200, with half of the room unused.
test('a later compaction tells in its recap what it clears behind the fold, too', () => {
  const run = times(36, (part) => {
    // What only a result names, and nobody can guess again.
    const [call, result] = round(`a${part}`, `logged in /srv/runs/${part}/run.log\n${failures(part)}`)
    return [{ ...call, content: prose(`thought ${part}`, 120) }, result]
  })
  const made = growIn(6_000, [task, ...run.flat()]).filter(
    ({ isCompacted, compaction }) => isCompacted && compaction?.fold !== null,
  )
  const recaps = made.map(({ contents }) => contents.find(isRecap) ?? '')
  expect(recaps.length).toBeGreaterThan(2)
  const sizes = recaps.map(tokensIn)
  expect(Math.min(...sizes)).toBeGreaterThan(Math.max(...sizes) / 2)
  for (const [order, { compaction }] of made.entries()) {
    const parts = (compaction?.cleared ?? []).map((index) => index / 2 - 1)
    expect(parts.length).toBeGreaterThan(2)
    for (const part of parts) expect(recaps[order]).toContain(`/srv/runs/${part}/run.log`)
  }
})

// Story: a newest user message of 44 % of the room, whose share is three quarters, was clipped, and so was the reply before
// it, beside a recap that took its third in the plan and half of that in the view.
test('a recap gives way before a newest user message that has no more than its share', () => {
  const said = [7_368, 3_125, 8_829, 308, 681, 6_991, 7_767, 97, 7_426].map((tokens, number) =>
    (number % 2 === 0 ? user : assistant)(prose(`said ${number}`, tokens)),
  )
  const { contents } = sendIn(24_000, [system(prose('Be brief', 7_204)), ...said])
  expect(contents.slice(-2)).toEqual([prose('said 7', 97), prose('said 8', 7_426)])
})

// Story: task, latest user message, newest round and the least recap came to all of the room. The margin that what is cut
// stays below the budget was taken from the newest result, of which 27 tokens went.
test('a recap gives way before a newest result that has no more than its share', () => {
  const begun = [user(prose('the task', 1_500)), ...rounds('c', 4, 400), assistant('Done.')]
  const latest = [user(prose('the latest', 1_500)), ...rounds('c', 4, 400)]
  const newest = prose('printed last', 1_470)
  const { contents } = sendIn(4_000, [...begun, ...latest, ...round('newest', newest)])
  expect(contents.at(-1)).toBe(newest)
})

// Story: what is cut to fit stays half a percent below the budget. A newest user message that fits alone, but not below
// that, was taken for one that cannot fit: it went out whole, with 7,000 tokens of task, 6,000 above the budget.
test.each([0.99, 0.995, 0.998, 0.9995])(
  'a newest user message of %f of the room is sent within it',
  (share) => {
    const newest = user(prose('the newest', Math.floor(24_000 * share) - 12))
    const { contents } = sendIn(24_000, [user(prose('the task', 7_000)), ...rounds('c', 4, 600), newest])
    expect(tokensIn(contents.at(-1))).toBeGreaterThan(24_000 * 0.74)
  },
)

// Story: a view that came to within three tokens of the budget was sent, as nothing had to be cut for it. The upstream took
// its tools for twenty tokens more and its calls for sixteen less than we do, and refused it.
test.each([7_640, 7_720, 7_800, 7_880])(
  'beside a newest reply of %i tokens a new view leaves room for the doubt in its count',
  (size) => {
    const [call, result] = round('newest', prose('printed last', 300))
    const newest = [{ ...call, content: prose('thinking', size) }, result]
    const { tokens } = sendIn(12_000, [user(prose('the task', 1_900)), ...rounds('c', 18, 700), ...newest])
    expect(tokens).toBeLessThanOrEqual(12_000 * 0.995)
  },
)
