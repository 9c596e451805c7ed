import { expect, test } from 'vitest'
import { tighten, type Compacted } from '../../src/compaction/compact.ts'
import { FOLD_VERSION, type Compaction } from '../../src/compaction/compaction.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { ruleBreaks } from '../support/strict-upstream/message-rules.ts'
import { profileOf, historyOf, viewTexts } from '../support/subject.ts'
import { assistant, calling, resultOf, round, send, sendGrowing, system, user } from './sending.ts'

const task = user('Go.')
const numbers = (count: number): number[] => [...Array(count).keys()]
const roundsOf = (count: number, content: (number: number) => string): object[] =>
  numbers(count).flatMap((number) => round(`call_${number}`, content(number)))

// Where the frames of the calls alone stood above the level, nothing further was cut and all was folded.
test.each([
  [20, 100, 0.9],
  [64, 100, 0.8],
  [64, 190, 0.8],
  [200, 190, 0.6],
])(
  'an open round of %i parallel calls is clipped where that is enough, not thrown away',
  (calls, chars, share) => {
    const ids = numbers(calls).map((number) => `call_${number}`)
    const results = ids.map((id) => resultOf(id, `${id} `.repeat(chars / id.length)))
    const conversation = [task, calling(...ids), ...results]
    const whole = send(conversation, { budgetTokens: 1_000_000 })
    const budgetTokens = Math.floor(whole.tokens * share)
    const { messages, tokens } = send(conversation, { budgetTokens })
    expect(messages).toHaveLength(conversation.length)
    expect(tokens).toBeLessThanOrEqual(budgetTokens)
  },
)

// It was taken to be readable in the tail, where only the placeholder of its result stood: naming a thing twice lost it.
test('a name that stands again in a result that was cleared is in the recap all the same', () => {
  const rounds = roundsOf(60, (number) =>
    number === 5 || number === 51
      ? 'deployed deploy-7f3a91c2-staging '.repeat(9)
      : 'nothing new here '.repeat(18),
  )
  const profile = profileOf({ clear: { keep_results: 2 } })
  for (const budgetTokens of [3_000, 4_000, 6_000])
    expect(send([task, ...rounds], { budgetTokens, profile }).texts.join('\n')).toContain('7f3a91c2')
})

// Each further try shrank the conversation again, down to nothing.
test('a forced compaction is made once at a point: a client that tries again gets the same', () => {
  const conversation = [task, ...roundsOf(40, () => 'some output '.repeat(30))]
  const first = send(conversation, { budgetTokens: 100_000, forced: true })
  const again = send(conversation, { budgetTokens: 100_000, forced: true, newest: first.compaction })
  expect(first.compaction).not.toBeNull()
  expect(again.texts).toEqual(first.texts)
})

// The plan was folded and its calls were not: then they were taken for a second answer without a question.
test('a strict template gets roles that alternate, also where a plan stood between the user and the calls', () => {
  const conversation = [
    system('Be brief.'),
    task,
    assistant('First I read, then I repair. '.repeat(300)),
    ...round('call_1', 'some output '.repeat(20)),
    user('And now?'),
  ]
  for (const budgetTokens of [900, 1_500, 2_000]) {
    const { messages } = send(conversation, { budgetTokens, strict: true })
    expect(ruleBreaks(messages, 'strict')).toEqual([])
  }
})

// Every compaction that was planned on the way summed up the system messages of the whole conversation, and looked through
// all of it for tool results. An agent's log of 20,000 calls that nobody answered, in one request of a megabyte, kept all
// other clients waiting for five seconds, and one of twice the size for twenty.
test('a conversation of very many request points costs no more than its length', () => {
  let reads = 0
  const counted = <Each>(items: readonly Each[]): readonly Each[] =>
    new Proxy(items, {
      get: (target, key): unknown => {
        reads += 1
        return Reflect.get(target, key)
      },
    })
  const readsOf = (count: number): number => {
    const history = historyOf(numbers(count).map(() => calling('a')))
    reads = 0
    const counting = { ...history, messages: counted(history.messages), sizes: counted(history.sizes) }
    expect(send(counting, { budgetTokens: 1_744 }).passes).toEqual(['fold'])
    return reads
  }
  expect(readsOf(900)).toBeLessThan(2.5 * readsOf(450))
})

// Everything was folded into a recap; the next overflow left no room for one, and nothing was sent at all.
test('a view is never empty, however little room is left', () => {
  const history = historyOf(numbers(30).map((number) => resultOf('call_1', `result ${number} `.repeat(40))))
  const cache = createMadeCache({ bytesMax: 1_000_000 })
  let previous: Compaction | null = null
  for (const [budgetTokens, smallest] of [
    [120, false],
    [20, true],
  ] as const) {
    const room = { budgetTokens, aroundTokens: 3 }
    const options: Parameters<typeof tighten>[2] = {
      profile: profileOf(),
      previous,
      room,
      keepRecent: 0,
      smallest,
      strict: false,
    }
    const tightened: Compacted | null = runAtOnce(tighten(history, cache, options))
    expect(tightened === null ? [] : viewTexts(history, tightened.view)).not.toEqual([])
    previous = tightened?.compaction ?? null
  }
})

// A user's words parted a result without a call from a round. When a further result of the round came behind it, all
// of them became one unit, and the cleared result, in the middle of what had been sent, was said to be another tool's.
test('a result that comes late changes nothing of what was sent before it', () => {
  const long = 'word '.repeat(1500)
  const before = [
    user('The task.'),
    calling('read', 'list', 'search'),
    resultOf('read', long),
    user('Wait.'),
    resultOf('of no call', long),
    user('Go on.'),
  ]
  const profile = profileOf({ clear: { except_tools: ['search'] } })
  const newest: Compaction = {
    version: FOLD_VERSION,
    reason: 'forced',
    point: before.length,
    task: 0,
    latestUser: before.length - 1,
    reach: { render: 0, preview: 0, clear: before.length - 1 },
    fold: null,
    clips: [],
    cleared: [],
    thoughts: [],
  }
  const sent = send(before, { profile, budgetTokens: 8000, newest })
  expect(sent.texts[4]).toContain('[cleared: tool result')
  const then = send([...before, user('Now.'), resultOf('list', 'late')], {
    profile,
    budgetTokens: 8000,
    newest: sent.compaction,
  })
  expect(then.compaction).toBe(sent.compaction)
  expect(then.texts.slice(0, sent.texts.length)).toEqual(sent.texts)
})

// So that a first sight takes no minute, only 32 recaps of a walk through the past were once weighed as they are. A coding
// agent with fifty compactions behind it then was compacted elsewhere after its records had gone (P6).
test('behind forty compactions the past is derived without records as it went with them', () => {
  const part = (number: number): object[] => {
    const lines = numbers((number * 7) % 40).map((line) => `export const part${number}x${line} = ${line}`)
    return round(`call_${number}`, lines.join('\n'), 'read_file', { path: `src/queue/part${number}.ts` })
  }
  const conversation = [user('Go through the queue, part by part.'), ...numbers(125).flatMap(part)]
  const requests = sendGrowing(conversation, { budgetTokens: 800 })
  expect(requests.filter(({ isCompacted }) => isCompacted).length).toBeGreaterThan(40)
  const warm = requests.at(-1)
  expect(send(conversation, { budgetTokens: 800 }).texts).toEqual(warm?.texts)
})
