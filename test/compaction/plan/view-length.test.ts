import { describe, expect, test } from 'vitest'
import type { History } from '../../../src/compaction/history/history.ts'
import { ruleBreaks } from '../../support/strict-upstream/message-rules.ts'
import { profileOf, historyOf } from '../../support/subject.ts'
import { assistant, prose, rounds, send, sendGrowing, system, user, type Sent } from '../sending.ts'
import { times } from '../../support/times.ts'

const ROOMY = 100_000

/** A turn: a request, so many rounds, a reply. */
const turn = (name: string, roundCount: number, resultTokens = 40): object[] => [
  user(`Do ${name}.`),
  ...rounds(name, roundCount, resultTokens),
  assistant(prose(`did ${name}`, resultTokens)),
]

const turns = (count: number, roundCount: number, resultTokens = 40): object[] =>
  times(count, (index) => turn(`t${index}`, roundCount, resultTokens)).flat()

const compactionCount = (requests: readonly Sent[]): number =>
  new Set(requests.flatMap(({ compaction }) => (compaction === null ? [] : [compaction.point]))).size

const isRecap = (content: string): boolean => content.startsWith('<conversation-recap>')

/** The client's own messages in what was sent, by their texts. */
const ownTexts = ({ texts, contents }: Sent): string[] =>
  texts.filter((_, index) => !isRecap(contents[index] ?? ''))

const textsOf = (messages: readonly object[]): string[] => messages.map((message) => JSON.stringify(message))

function strictViolations({ messages }: Sent) {
  return ruleBreaks(messages, 'strict')
}

const keepFew = { recent_messages: 2 }

const roomy = (conversation: readonly object[] | History, profile: object): Sent =>
  send(conversation, { budgetTokens: ROOMY, profile: profileOf({ keep: keepFew, ...profile }) })
const roomyGrowing = (conversation: readonly object[], profile: object) =>
  sendGrowing(conversation, { budgetTokens: ROOMY, profile: profileOf({ keep: keepFew, ...profile }) })

/** User messages that were sent, the task beside the turns. */
const usersIn = (sent: Sent): number => ownTexts(sent).filter((text) => text.includes('"role":"user"')).length

describe('a limit of turns', () => {
  const limit = { turns: 6 }
  const conversation = [system('Be brief.'), ...turns(6, 3), user('Do more.')]

  test.each([
    ['while it is kept', turns(6, 3), { limit }],
    ['where there is none', conversation, {}],
    ['where nothing can be folded', turns(10, 0), { limit: { turns: 2 }, keep: { recent_messages: 1000 } }],
    ['before min_growth_tokens', conversation, { limit, min_growth_tokens: 50_000 }],
    ['where the trigger is off', conversation, { limit, trigger: 'off' }],
  ])('is no reason for a compaction %s', (_, messages, profile) => {
    expect(roomy(messages, profile).compaction).toBeNull()
  })

  test('folds the older half of the turns, and leaves the others whole', () => {
    const sent = roomy(conversation, { limit })
    expect(sent.compaction).toMatchObject({ reason: 'limit', point: conversation.length, fold: { kept: [] } })
    // Eight messages a turn: three of seven turns go, but for the task, which is the first one's request.
    const own = [...conversation.slice(0, 2), ...conversation.slice(1 + 3 * 8)]
    expect(ownTexts(sent)).toEqual(textsOf(own))
    expect(sent.contents.findIndex(isRecap)).toBe(2)
    expect(sent.passes).toEqual(['fold'])
  })

  test('is kept at every request, with a compaction for each half of it', () => {
    const requests = roomyGrowing(turns(18, 2), { limit })
    for (const request of requests) expect(usersIn(request)).toBeLessThanOrEqual(6 + 1)
    expect(compactionCount(requests)).toBe(4)
  })

  test('leaves the newest messages alone: it cuts at the turn before them', () => {
    const { compaction } = roomy(conversation, { limit, keep: { recent_messages: 36 } })
    // The newest 37 of 50 reach into the second turn.
    expect(compaction?.fold?.frontier).toBe(1 + 8)
  })

  test('that the newest messages alone exceed is no reason for a compaction at every request', () => {
    const requests = roomyGrowing(turns(40, 0), { limit: { turns: 2 }, keep: { recent_messages: 10 } })
    expect(compactionCount(requests)).toBeGreaterThan(2)
    expect(compactionCount(requests)).toBeLessThanOrEqual(7)
    const held = requests.map((request) => ownTexts(request).length)
    expect(Math.max(...held)).toBeLessThanOrEqual(26)
  })

  test('holds after a compaction by size too', () => {
    const large = turns(16, 3, 400)
    const profile = profileOf({ limit, keep: keepFew })
    const requests = sendGrowing(large, { budgetTokens: 9000, profile })
    expect(new Set(requests.map(({ compaction }) => compaction?.reason))).toContain('trigger')
    for (const request of requests) {
      expect(usersIn(request)).toBeLessThanOrEqual(6 + 1)
      const frontier = request.compaction?.fold?.frontier
      if (frontier !== undefined) expect(large[frontier]).toMatchObject({ role: 'user' })
    }
  })

  test('does not count a result that became text as a turn', () => {
    // The last but one of these is no request: it stands for a result.
    const chat = historyOf([...turns(2, 0), user('[result] something'), assistant('I see.'), user('Go on.')])
    expect(roomy(chat, { limit: { turns: 3 } }).compaction?.reason).toBe('limit')
    const { structure } = chat
    const repaired = { ...structure, turns: structure.turns.filter((index) => index !== 4) }
    expect(roomy({ ...chat, structure: repaired }, { limit: { turns: 3 } }).compaction).toBeNull()
  })
})

describe('a limit of messages', () => {
  const limit = { messages: 40 }

  test('folds the older half of the rounds of a turn that is longer by itself', () => {
    const run = [user('The task.'), ...rounds('a', 70, 40)]
    const requests = roomyGrowing(run, { limit })
    for (const { messages } of requests) expect(messages.length).toBeLessThanOrEqual(41)
    // Some twenty messages go each time.
    expect(compactionCount(requests)).toBeLessThanOrEqual(7)
    expect(requests.at(-1)?.texts[0]).toBe(JSON.stringify(run[0]))
  })

  test('that the newest messages alone exceed is no reason for a compaction at every request', () => {
    const run = [user('The task.'), ...rounds('a', 60, 40)]
    const requests = roomyGrowing(run, { limit: { messages: 5 }, keep: { recent_messages: 10 } })
    expect(compactionCount(requests)).toBeGreaterThan(2)
    expect(compactionCount(requests)).toBeLessThanOrEqual(12)
  })
})

describe('short conversations with huge turns', () => {
  const limit = { messages: 60 }
  const conversation = [system('Be brief.'), ...turns(3, 12), user('Do more.'), ...rounds('now', 2, 40)]
  const bySize = profileOf({ limit: { turns: 50 }, keep: keepFew, clear: { enabled: false } })
  const [first, second, third, open] = [1, 27, 53, 79]

  test('come down to the request and the last reply of each older turn', () => {
    const sent = roomy(conversation, { limit: { messages: conversation.length - 2 } })
    expect(sent.compaction?.fold).toMatchObject({
      frontier: open,
      kept: [second - 1, second, third - 1, third, open - 1],
    })
    const own = [0, first, second - 1, second, third - 1, third, open - 1]
    expect(sent.texts.slice(0, 7)).toEqual(textsOf(own.map((index) => conversation[index] ?? {})))
    expect(sent.contents.map(isRecap).indexOf(true)).toBe(7)
    expect(sent.texts.slice(8)).toEqual(textsOf(conversation.slice(open)))
  })

  test('do so when tokens press, before any turn is dropped', () => {
    const huge = [...turns(3, 8, 300), user('Do more.')]
    const { compaction, tokens, contents } = send(huge, { budgetTokens: 8000, profile: bySize })
    expect(compaction?.reason).toBe('trigger')
    expect(tokens).toBeLessThanOrEqual(8000 * 0.75)
    // The newest messages reach into the third turn.
    expect(compaction?.fold).toMatchObject({ frontier: 36, kept: [17, 18, 35] })
    expect(contents).toContain('Do t1.')
    expect(contents).toContain('Do t2.')
  })

  test('lose their older half where that is not enough', () => {
    const huge = [0, 1, 2].flatMap((index) => [
      user(prose(`ask${index}`, 1500)),
      ...rounds(`r${index}`, 2, 300),
      assistant(prose(`reply${index}`, 1500)),
    ])
    const { compaction, tokens } = send([...huge, user('Do more.')], { budgetTokens: 9000, profile: bySize })
    expect(tokens).toBeLessThanOrEqual(9000)
    expect(compaction?.fold?.kept.length).toBeLessThan(5)
  })

  test('keep what was kept while it grows, and drop it with its turn', () => {
    const longer = [...conversation, assistant('Done.'), ...turns(8, 12)]
    const requests = roomyGrowing(longer, { limit })
    let before: Sent | null = null
    for (const request of requests) {
      expect(ownTexts(request).length).toBeLessThanOrEqual(61)
      if (request.compaction?.point === before?.compaction?.point && before !== null)
        expect(request.texts.slice(0, before.texts.length)).toEqual(before.texts)
      before = request
    }
    expect(before?.contents).not.toContain('Do t1.')
  })

  test('have no reply where a turn has none: requests that meet are joined for a strict template', () => {
    const unanswered = ['a', 'b'].flatMap((name) => [user(`Do ${name}.`), ...rounds(name, 12, 40)])
    const broken = [...unanswered, ...turn('c', 12), user('Do more.'), ...rounds('now', 2, 40)]
    const full = profileOf({ limit: { messages: broken.length - 1 }, keep: keepFew })
    const strict = send(broken, { budgetTokens: ROOMY, profile: full, strict: true })
    expect(strict.compaction?.fold?.kept).toEqual([25, 50, 75])
    expect(strictViolations(strict)).toEqual([])
    expect(strict.contents[0]).toBe('Do a.\n\nDo b.\n\nDo c.')
    expect(send(broken, { budgetTokens: ROOMY, profile: full }).contents.slice(0, 3)).toEqual([
      'Do a.',
      'Do b.',
      'Do c.',
    ])
  })
})
