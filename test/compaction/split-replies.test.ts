import { describe, expect, test } from 'vitest'
import type { Compaction } from '../../src/compaction/compaction.ts'
import type { Compacted } from '../../src/compaction/compact.ts'
import { callOf, isTalk, type History, toolNameOf } from '../../src/compaction/history/history.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import { mentionsIn } from '../../src/compaction/recap/names.ts'
import { type UserMessage, userMessages } from '../../src/compaction/recap/user/sentence-worth.ts'
import { fitting } from '../../src/pipeline/records/records.ts'
import { compactedUnder } from '../support/compacted.ts'
import { longRun, type TestMessage } from '../support/conversations.ts'
import { profileOf, type Split, splitReplies, historyOf, viewTexts } from '../support/subject.ts'
import { resultOf, user } from './sending.ts'
import { times } from '../support/times.ts'

// One reply was taken to be one entry of the history: where it came in pieces, its text was talk although calls followed
// it, and a result beside another call was nobody's.

/** A chat with tools in it: rules, answers in a word, rounds of two calls, offers; `isInTwo`: these in two texts each. */
const chatOf = (isInTwo: boolean): readonly TestMessage[] => [
  { role: 'system', content: 'You help.' },
  user('Repair the nightly run of /srv/build/nightly.sh, please. Never touch the locks.'),
  reply('I keep the locks as they are.', `Understood. ${'The locks stay where they are. '.repeat(20)}`),
  ...times(12, (round) => [
    user(round === 0 ? 'What does step 0 do? Look at its log, too.' : 'Yes, the next one.'),
    callingTwo(round, `Two files tell of step ${round}.`, `I read /srv/build/step_${round}.sh.`),
    resultOf(`call_${round}_0`, `echo step ${round}\n`.repeat(20)),
    resultOf(`call_${round}_1`, `log line of build ${round}0417 in /var/log/build_${round}.txt\n`.repeat(20)),
    reply(
      `Nothing strange in ${round}.`,
      `Step ${round} copies artifacts_${round} to the mirror. Shall I go on with the next, or with number ${round + 2}?`,
      ...(isInTwo ? [`It is step_${round + 1}.sh.`] : []),
    ),
  ]).flat(),
  user('Yes, but from now on answer in one sentence.'),
  reply('One sentence.', 'Noted.'),
  user('And what is the last step?'),
  reply('The last one.', `Besides the mirror ${'it signs what was built '.repeat(12)}.`),
  user('Who runs it?'),
  reply('A timer.', `In practice the timer ${'of the host starts it '.repeat(12)}.`),
  user('And when?'),
]

const chat = chatOf(false)

function reply(thought: string, ...texts: string[]): TestMessage {
  return {
    role: 'assistant',
    reasoning_content: thought,
    content: texts.map((text) => ({ type: 'text', text })),
  }
}

function callingTwo(round: number, thought: string, text: string): TestMessage {
  const input = `{"path":"/srv/build/step_${round}.sh"}`
  const calls = ['read_file', 'tail_log'].map((name, call) => ({
    id: `call_${round}_${call}`,
    type: 'function',
    function: { name, arguments: input },
  }))
  return { ...reply(thought, text), tool_calls: calls }
}

const listed = (what: string): string => times(40, (line) => `${line} of the ${what}`).join('\n')

/** A compaction of the whole conversation as it would be of the pieces. */
function placed(compaction: Compaction | null, { placeOf }: Split): Compaction | null {
  if (compaction === null) return null
  const at = (index: number): number => (index === -1 ? -1 : (placeOf[index] ?? Number.NaN))
  const { reach, fold } = compaction
  return {
    ...compaction,
    point: at(compaction.point),
    task: at(compaction.task),
    latestUser: at(compaction.latestUser),
    reach: Object.fromEntries(Object.entries(reach).map(([pass, index]) => [pass, at(index)])),
    clips: compaction.clips.map((clip) => ({ ...clip, index: at(clip.index) })),
    fold: fold && {
      ...fold,
      frontier: at(fold.frontier),
      kept: fold.kept.flatMap((index) => times(at(index + 1) - at(index), (piece) => at(index) + piece)),
    },
  }
}

const recapsOf = (subject: History, { view }: Compacted): string[] =>
  viewTexts(subject, view).filter((text) => text.includes('<conversation-recap>'))

const wordsOf = (subject: History): readonly UserMessage[] =>
  runAtOnce(userMessages(subject, subject.messages.keys().toArray()))

/** How many messages name each thing, and how many of the assistant's. */
function timesNamed(subject: History): Map<string, readonly number[]> {
  const cache = createMadeCache({ bytesMax: 1e6 })
  const mentions = runAtOnce(mentionsIn(subject, subject.messages.keys().toArray(), [], cache))
  return new Map([...mentions].map(([name, { messages, ofAssistant }]) => [name, [messages, ofAssistant]]))
}

const runs = [7, 8].map((seed) => [`run ${seed}`, longRun(30, seed), [3_500, 6_000]] as const)

describe('a history whose replies stand in pieces', () => {
  test.each([['chat', chat, [2_500, 4_000]] as const, ...runs])(
    'is planned like one of whole messages: %s',
    (_, history, budgets) => {
      const whole = historyOf(history)
      const split = splitReplies(history)
      let compactions = 0
      for (const settings of [
        {},
        { target: 0.05, keep: { recent_messages: 9 } },
        { limit: { turns: 2 } },
        { clear: { keep_results: 1 } },
      ]) {
        const profile = profileOf(settings)
        for (const budgetTokens of budgets) {
          for (const strict of [false, true]) {
            const options = { profile, budgetTokens, strict, seenUntil: 1 }
            const expected = compactedUnder(whole, options)
            const found = compactedUnder(split.history, options)
            expect(found.compaction).toEqual(placed(expected.compaction, split))
            if (found.compaction !== null) compactions += 1
            expect(fitting(found.compaction, split.history)).toBe(found.compaction)
          }
        }
      }
      expect(compactions).toBeGreaterThan(7)
    },
  )

  test('keeps the whole reply of an old turn, and none of what led to it', () => {
    const rounds = [0, 1, 2, 3, 4, 5, 6, 7]
    const turns = [0, 10, 20].flatMap((turn) => [
      user(`Do part ${turn}.`),
      ...rounds.flatMap((round) => [
        callingTwo(turn + round, 'I look.', 'I read on.'),
        resultOf(`call_${turn + round}_0`, listed('file')),
        resultOf(`call_${turn + round}_1`, listed('log')),
      ]),
      // The turn in the middle was broken off.
      ...(turn === 10 ? [] : [reply('That was it.', 'Done.', `Part ${turn} is done.`)]),
    ])
    const history = [...turns, user('Do more.')]
    const profile = profileOf({
      limit: { turns: 50 },
      keep: { recent_messages: 2 },
      clear: { enabled: false },
    })
    const split = splitReplies(history)
    for (const strict of [false, true]) {
      const options = { profile, budgetTokens: 11_000, strict, seenUntil: 1 }
      const expected = compactedUnder(historyOf(history), options)
      const found = compactedUnder(split.history, options)
      expect(found.compaction?.fold?.kept.length).toBeGreaterThan(2)
      expect(found.compaction).toEqual(placed(expected.compaction, split))
      expect(fitting(found.compaction, split.history)).toBe(found.compaction)
    }
  })

  test('is told like one of whole messages', () => {
    // With room for all of it: what a piece weighs beside the others of its reply is no more than an estimate.
    const profile = profileOf({ clear: { enabled: false }, recap: { max_tokens: 4_000 } })
    const options = { profile, budgetTokens: 6_000 }
    const { history: subject } = splitReplies(chat)
    const expected = recapsOf(historyOf(chat), compactedUnder(historyOf(chat), options))
    expect(expected).not.toEqual([])
    expect(recapsOf(subject, compactedUnder(subject, options))).toEqual(expected)
  })

  test('weighs what the user said, and what was named, like one of whole messages', () => {
    const { history: subject, placeOf } = splitReplies(chatOf(true))
    const whole = historyOf(chatOf(true))
    const said = wordsOf(whole)
    expect(said.flatMap(({ words }) => words).filter(({ refersTo }) => refersTo !== null)).not.toEqual([])
    expect(wordsOf(subject)).toEqual(said.map((each) => ({ ...each, index: placeOf[each.index] })))
    expect(timesNamed(subject)).toEqual(timesNamed(whole))
  })

  test('a result finds its call in any piece of its reply, and the pieces of a reply that calls are no talk', () => {
    const { history: subject, placeOf } = splitReplies(chat)
    const call = placeOf[4] ?? 0
    const results = [placeOf[5] ?? 0, placeOf[6] ?? 0]
    expect(results.map((index) => callOf(subject, index)?.index)).toEqual([call + 2, call + 3])
    expect(results.map((index) => toolNameOf(subject, index))).toEqual(['read_file', 'tail_log'])
    expect([0, 1, 2, 3].map((piece) => callOf(subject, call + piece)?.index)).toEqual(
      [2, 2, 2, 3].map((piece) => call + piece),
    )
    const talk = subject.messages.flatMap((_, index) => (isTalk(subject, index) ? [index] : []))
    expect(talk.slice(0, 4)).toEqual([placeOf[2], (placeOf[2] ?? 0) + 1, placeOf[7], (placeOf[7] ?? 0) + 1])
  })
})
