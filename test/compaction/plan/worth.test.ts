import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMadeCache } from '../../../src/compaction/made-cache.ts'
import { countedDraft, frameOf } from '../../../src/compaction/plan/frame.ts'
import { planCompaction } from '../../../src/compaction/plan/plan.ts'
import { type Compaction, FOLD_VERSION } from '../../../src/compaction/compaction.ts'
import { countsOf } from '../../../src/compaction/token-counts.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { forAll } from '../../support/property-runs.ts'
import { profileOf, historyOf } from '../../support/subject.ts'
import { times } from '../../support/times.ts'
import { assistant, isRecap, prose, rawOf, round, rounds, send, sendGrowing, user } from '../sending.ts'

const task = user('The task.')

/** A compaction that is asked for and goes down to this share of what is there, of a conversation far from its limit. */
const compactedTo = (target: number, conversation: readonly object[], profile: object = {}) =>
  send(conversation, {
    budgetTokens: 100_000,
    forced: true,
    profile: profileOf({ trigger: 0.99, target, keep: { recent_messages: 0 }, ...profile }),
  })

/** The indexes of the results in the order in which they go, the further down a compaction has to come. */
function orderGone(conversation: readonly object[], profile: object = {}): readonly number[] {
  const gone = new Set<number>()
  for (let percent = 98; percent > 40; percent -= 1) {
    const { compaction } = compactedTo(percent / 100, conversation, profile)
    if (compaction?.fold !== null) break
    for (const index of compaction.cleared) gone.add(index)
  }
  return [...gone]
}

const read = (id: string, path: string, text: string, more: object = {}): object[] =>
  round(id, text, 'read_file', { path, ...more })

const tested = (id: string): object[] =>
  round(id, prose(`failed at ${id}`, 300), 'bash', { command: 'npm test' })

/** Rounds that have nothing to do with what stands before them. */
const others = rounds('other', 10, 300)

/** What an old and large result that still holds says. */
const large = prose('a large file', 700)

// Story: a listing and two files were read, and there was no room for a fourth such result. Both older ones went, so that there
// was: and the next step, which quoted the first file, had nothing to quote.
describe('what was read last', () => {
  const listing = round('listing', prose('a listing', 1_900), 'bash', { command: 'ls -R' })
  const [first, second, third] = ['first', 'second', 'third'].map((name) =>
    read(name, `src/${name}.ts`, prose(`the ${name} file`, 2_600)),
  )
  const profile = profileOf({ trigger: 1, target: null })
  const begun = [user(prose('The task', 1_500)), ...listing, ...(first ?? []), ...(second ?? [])]

  test('stays whole where the view only fits', () => {
    const { contents, messages } = send(begun, { budgetTokens: 7_160, profile })
    expect(contents).toContain(prose('the first file', 2_600))
    expect(contents).toContain(prose('the second file', 2_600))
    expect(messages).toHaveLength(begun.length)
  })

  test('gives way where a compaction was made just before, so that not each request is one', () => {
    const requests = sendGrowing([...begun, ...(third ?? [])], { budgetTokens: 7_160, profile })
    expect(requests.at(-1)?.contents).not.toContain(prose('the second file', 2_600))
    expect(requests.at(-1)?.contents).toContain(prose('the third file', 2_600))
  })
})

describe('of the results', () => {
  test('one of a file that was read again and had become another goes before an older, larger one that still holds', () => {
    const versions = ['first', 'second'].flatMap((version) =>
      read(version, 'src/queue.ts', prose(version, 300)),
    )
    const order = orderGone([task, ...read('large', 'src/large.ts', large), ...versions, ...others])
    expect(order.slice(0, 2)).toEqual([4, 2])
  })

  test('one of a file that was changed since goes before an older, larger one that still holds', () => {
    const changed = [
      ...read('seen', 'src/queue.ts', prose('before', 300)),
      ...round('edit', 'ok', 'edit_file', { path: 'src/queue.ts', old_string: 'a', new_string: 'b' }),
    ]
    const order = orderGone([task, ...read('large', 'src/large.ts', large), ...changed, ...others])
    expect(order.slice(0, 2)).toEqual([4, 2])
  })

  test('one of a command that was run again with another outcome goes before an older, larger one', () => {
    const order = orderGone([
      task,
      ...read('large', 'src/large.ts', large),
      ...tested('a'),
      ...tested('b'),
      ...others,
    ])
    expect(order.slice(0, 2)).toEqual([4, 2])
  })

  test('that say the same the earliest stays, and those that repeat it go first', () => {
    const say = (id: string): object[] => read(id, 'src/queue.ts', prose('the queue', 300))
    const lone = read('lone', 'src/lone.ts', prose('lone', 300))
    const order = orderGone([
      task,
      ...read('large', 'src/large.ts', large),
      ...say('a'),
      ...lone,
      ...say('b'),
      ...say('c'),
      ...others,
    ])
    expect(order.slice(0, 2).toSorted((one, other) => one - other)).toEqual([8, 10])
    // It is as young as the latest that says so: what was read between them goes before it.
    expect(order.slice(2, 5)).toEqual([2, 6, 4])
  })

  test('one of whose file a later one tells goes before an older one that nothing follows', () => {
    const lone = read('lone', 'src/lone.ts', prose('lone', 300))
    const parts = [1, 200].flatMap((from) =>
      read(`from${from}`, 'src/queue.ts', prose(`from line ${from}`, 300), { from }),
    )
    const order = orderGone([task, ...lone, ...parts, ...others])
    expect(order.slice(0, 2)).toEqual([4, 2])
  })

  test('of one size the oldest goes first, and of one age the largest', () => {
    const order = orderGone([task, ...rounds('a', 12, 300)])
    expect(order.length).toBeGreaterThan(4)
    expect(order).toEqual(order.toSorted((one, other) => one - other))
    const calls = ['small', 'large'].map((id) => ({
      id,
      type: 'function',
      function: { name: 'read_file', arguments: `{"part":"${id}"}` },
    }))
    const together = [
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'small', content: prose('small', 300) },
      { role: 'tool', tool_call_id: 'large', content: prose('large', 500) },
    ]
    expect(orderGone([task, ...together, ...others]).slice(0, 1)).toEqual([3])
  })

  test('those of a few words stay, however old and however far it has to go', () => {
    const short = times(20, (number) => round(`s${number}`, `line ${number} was replaced`, 'edit')).flat()
    for (const target of [0.8, 0.5, 0.2]) {
      const { compaction, contents } = compactedTo(target, [task, ...short, ...rounds('a', 12, 300)])
      expect(compaction?.cleared.filter((index) => index <= short.length)).toEqual([])
      expect(contents.filter((content) => content.startsWith('[cleared: result of edit'))).toEqual([])
    }
  })

  test('those of excepted tools stay, superseded ones too', () => {
    const notes = ['a', 'b', 'c'].flatMap((id) =>
      round(id, prose(`notes of ${id}`, 400), 'read_notes', { path: 'notes.md' }),
    )
    const profile = { clear: { except_tools: ['*_notes'] } }
    const order = orderGone([task, ...notes, ...others], profile)
    expect(order.length).toBeGreaterThan(3)
    expect(order.filter((index) => index <= notes.length)).toEqual([])
    expect(orderGone([task, ...notes, ...others]).slice(0, 2)).toEqual([2, 4])
  })
})

describe('the newest results', () => {
  const conversation = [task, ...rounds('a', 14, 300)]
  const profile = { clear: { keep_results: 9 } }
  const kept = times(9, (back) => conversation.length - 1 - 2 * back)

  test('that the profile keeps stay while older ones are enough', () => {
    const { compaction } = compactedTo(0.75, conversation, profile)
    expect(compaction?.fold).toBeNull()
    expect(compaction?.cleared.length).toBeGreaterThan(2)
    expect(compaction?.cleared.filter((index) => kept.includes(index))).toEqual([])
  })

  test('that the profile keeps go before anything is folded that the agent said or called', () => {
    const { compaction, messages } = compactedTo(0.5, conversation, profile)
    expect(compaction?.fold).toBeNull()
    expect(compaction?.cleared.filter((index) => kept.includes(index))).not.toEqual([])
    expect(messages).toHaveLength(conversation.length)
  })

  test('of a third of the room stay whatever it takes', () => {
    for (const trigger of [0.9, 0.5, 0.1]) {
      // A profile that sets a target says itself how much of them stays.
      const { contents } = compactedTo(trigger, conversation, {
        trigger,
        target: null,
        clear: { keep_results: 0 },
      })
      // A third of fourteen rounds, rounded up to whole ones.
      for (const number of times(5, (back) => 13 - back))
        expect(contents).toContain(prose(`result of a${number}`, 300))
    }
  })
})

test('what was cleared stays so while the conversation goes on, and is folded with its call at last', () => {
  const run = times(60, (number) => {
    const [call, result] = round(`a${number}`, prose(`result ${number}`, 300))
    return [{ ...call, content: prose(`thought ${number}`, 60) }, result]
  })
  const requests = sendGrowing([task, ...run.flat()], { budgetTokens: 6_000 })
  for (const [order, { compaction }] of requests.entries()) {
    const frontier = compaction?.fold?.frontier ?? 0
    const before = requests[order - 1]?.compaction?.cleared ?? []
    const cleared = compaction?.cleared ?? []
    expect(cleared).toEqual(cleared.toSorted((one, other) => one - other))
    expect(cleared).toEqual(expect.arrayContaining(before.filter((index) => index >= frontier)))
    // A record that named what is folded would grow without end.
    expect(cleared.filter((index) => index < frontier)).toEqual([])
  }
  expect(requests.at(-1)?.contents.some(isRecap)).toBe(true)
})

const clearedIn = (contents: readonly string[]): number[] =>
  contents.flatMap((content, index) => (content.startsWith('[cleared: ') ? [index] : []))

describe('a record of a release that cleared all before a point', () => {
  const conversation = [task, ...rounds('a', 20, 300)]
  const record: Compaction = {
    version: FOLD_VERSION,
    reason: 'trigger',
    point: 31,
    task: 0,
    latestUser: 0,
    reach: { render: 0, preview: 0, clear: 13 },
    fold: null,
    clips: [],
    cleared: [],
    thoughts: [],
  }
  test('is followed as it was made', () => {
    const options = { budgetTokens: 100_000, newest: record, seenUntil: 31 }
    const { compaction, contents, passes } = send(conversation, options)
    expect(compaction).toBe(record)
    expect(passes).toEqual(['clear'])
    expect(clearedIn(contents)).toEqual([2, 4, 6, 8, 10, 12])
  })

  test('is gone on from: what it cleared stays so, and what goes beside that is named singly', () => {
    const options = { budgetTokens: 6_000, newest: record, seenUntil: 31 }
    const { compaction, contents } = send(conversation, options)
    expect(compaction).not.toBe(record)
    expect(compaction?.reach.clear).toBe(13)
    const further = compaction?.cleared ?? []
    expect(further.length).toBeGreaterThan(0)
    expect(Math.min(...further)).toBeGreaterThanOrEqual(13)
    expect(clearedIn(contents)).toEqual([2, 4, 6, 8, 10, 12, ...further])
  })
})

/** Rounds of several tools over a few files and commands, so that some supersede others, and talk between them. */
const anyRun = fc.array(
  fc.record({
    tool: fc.constantFrom('read_file', 'edit_file', 'bash', 'search'),
    history: fc.integer({ min: 0, max: 5 }),
    tokens: fc.oneof(fc.constantFrom(10, 63, 64, 300), fc.integer({ min: 1, max: 1_200 })),
    version: fc.integer({ min: 0, max: 1 }),
    words: fc.constantFrom(0, 0, 0, 40, 200),
  }),
  { minLength: 6, maxLength: 40 },
)

type Run = typeof anyRun extends fc.Arbitrary<infer Drawn> ? Drawn : never

function conversationOf(run: Run): object[] {
  const made = run.map(({ tool, history, tokens, version, words }, number) => {
    const input = tool === 'bash' ? { command: `run part${history}` } : { path: `src/part${history}.ts` }
    const [call, result] = round(`c${number}`, prose(`${tool} ${history} ${version}`, tokens), tool, input)
    return [words === 0 ? call : { ...call, content: prose(`thought ${number}`, words) }, result]
  })
  return [task, ...made.flat(), user('Go on.'), ...rounds('last', 1, 20)]
}

/** A compaction that clears and folds nothing, with the frame that it was planned in; null where it is another. */
function planned(run: Run, target: number) {
  const messages = conversationOf(run)
  const history = historyOf(messages)
  const profile = profileOf({ trigger: 0.99, target, keep: { recent_messages: 4 } })
  const counts = countsOf(history, profile, createMadeCache({ bytesMax: 1e7 }))
  const options: Parameters<typeof planCompaction>[1] = {
    point: messages.length,
    previous: null,
    room: { budgetTokens: 60_000, aroundTokens: 3 },
    reason: 'forced',
    isBeyondBudget: false,
    keepRecent: 4,
    smallest: false,
    strict: false,
    prepared: null,
    plannedTokensMax: null,
    viewTokens: null,
  }
  const compaction = runAtOnce(planCompaction(counts, options))
  const frame = runAtOnce(frameOf(counts, options))
  const isClearing = compaction !== null && compaction.cleared.length > 0 && compaction.fold === null
  return isClearing && compaction.clips.length === 0 ? { messages, history, compaction, frame } : null
}

const anyTarget = fc.integer({ min: 40, max: 95 }).map((percent) => percent / 100)

describe('whatever the results are', () => {
  test('none is cleared in vain: with the last of them back the view would be larger than it is meant to be', () => {
    let tried = 0
    forAll(300, anyRun, anyTarget, (run, target) => {
      const plan = planned(run, target)
      fc.pre(plan !== null)
      const { compaction, frame, history } = plan
      const protectedFrom = frame.recentFrom
      const tokensWith = (cleared: readonly number[]): number =>
        runAtOnce(countedDraft(frame, { ...compaction, cleared, protectedFrom })).tokens
      const aimTokens = Math.floor(frame.targetTokens)
      expect(tokensWith(compaction.cleared)).toBeLessThanOrEqual(aimTokens)
      // The last to go freed no more than the largest of them.
      const [largest] = compaction.cleared.toSorted(
        (a, b) => (history.sizes[b] ?? 0) - (history.sizes[a] ?? 0),
      )
      expect(tokensWith(compaction.cleared.filter((index) => index !== largest))).toBeGreaterThan(aimTokens)
      tried += 1
    })
    // What is never tried is not shown.
    expect(tried).toBeGreaterThan(20)
  })

  test('the agent’s words and calls, the user’s and the newest messages stand as they came while clearing is enough', () => {
    forAll(150, anyRun, anyTarget, (run, target) => {
      const plan = planned(run, target)
      fc.pre(plan !== null)
      const { messages, compaction, frame, history } = plan
      const { texts } = compactedTo(target, messages, { keep: { recent_messages: 4 } })
      const own = rawOf(messages)
      expect(texts).toHaveLength(own.length)
      for (const [index, text] of texts.entries()) {
        const isResult = history.messages[index]?.facts.role === 'tool'
        if (!isResult || index >= frame.recentFrom) expect(text).toBe(own[index])
      }
      for (const index of compaction.cleared) {
        expect(history.messages[index]?.facts.role).toBe('tool')
        expect(history.sizes[index]).toBeGreaterThanOrEqual(64)
        expect(index).toBeLessThan(frame.recentFrom)
      }
    })
  })
})

test('a reply between results is no reason to keep them: an answer of the agent’s stands while they go', () => {
  const talk = [assistant('The queue is empty now.'), user('Look at the others, too.')]
  const { contents, compaction } = compactedTo(0.6, [
    task,
    ...rounds('a', 6, 400),
    ...talk,
    ...rounds('b', 8, 300),
  ])
  expect(compaction?.fold).toBeNull()
  expect(contents).toEqual(expect.arrayContaining(talk.map(({ content }) => content)))
})
