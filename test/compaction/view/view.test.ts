import { describe, expect, test } from 'vitest'
import { profileOf, historyOf } from '../../support/subject.ts'
import {
  assistant,
  calling,
  prose,
  resultOf,
  round,
  rounds,
  send,
  system,
  user,
  type Sent,
} from '../sending.ts'
import { times } from '../../support/times.ts'

const recapIn = /^<conversation-recap>[^]*<\/conversation-recap>$/

/** What stands where, in short: a recap, or what a message begins with. */
const outline = ({ messages, contents }: Sent): string[] =>
  messages.map(({ role }, index) => {
    const content = contents[index] ?? ''
    if (recapIn.test(content)) return 'recap'
    return content === '' ? role : `${role}: ${content.slice(0, content.search(/[:.]/))}`
  })

/** What messages take, as the tests count tokens. */
const tokensOf = (messages: readonly object[]): number =>
  historyOf(messages).sizes.reduce((sum, size) => sum + size, 0)

describe('a folded view', () => {
  const conversation = [
    system('Be brief.'),
    user('The task.'),
    ...rounds('a', 8, 300),
    assistant('Done.'),
    user('The latest.'),
    ...rounds('b', 20, 300),
  ]

  test('is system, task, recap, latest user message, recap of what followed it, tail', () => {
    const sent = send(conversation, { budgetTokens: 3000 })
    const [tail, around] = [outline(sent).slice(5), outline(sent).slice(0, 5)]
    expect(around).toEqual(['system: Be brief', 'user: The task', 'recap', 'user: The latest', 'recap'])
    expect(tokensOf(sent.messages.slice(5))).toBeGreaterThan(3000 / 3)
    const newest = times(tail.length / 2, (back) => 20 - tail.length / 2 + back)
    expect(tail).toEqual(newest.flatMap((number) => ['assistant', `tool: result of b${number}`]))
  })

  test('tells each part of the past on its side of the latest user message', () => {
    const profile = profileOf({ clear: { enabled: false } })
    const { contents } = send(conversation, { budgetTokens: 5000, profile })
    const [before = '', after = ''] = contents.filter((content) => recapIn.test(content))
    expect(before).toContain('17 earlier messages')
    expect(before).toContain('Done.')
    expect(after).toMatch(/\d+ earlier messages/)
    expect(after).toMatch(/- read_file b\d+\n/)
    expect(before).toMatch(/- read_file a\d+\n/)
    expect(after).not.toContain('Done.')
    expect(after).not.toContain('read_file a')
    expect(before).not.toContain('read_file b')
  })

  test('of a run with one user message is that message, one recap and the tail', () => {
    const sent = send([user('The task.'), ...rounds('b', 100, 300)], { budgetTokens: 3000 })
    expect(outline(sent).slice(0, 3)).toEqual(['user: The task', 'recap', 'assistant'])
    expect(outline(sent).at(-1)).toBe('tool: result of b99')
    expect(sent.tokens).toBeLessThanOrEqual(3000)
  })

  test('without any user message is the system block, a recap and the tail', () => {
    const sent = send([system('Work on.'), ...rounds('b', 40, 300)], { budgetTokens: 3000 })
    expect(outline(sent).slice(0, 3)).toEqual(['system: Work on', 'recap', 'assistant'])
    expect(sent.tokens).toBeLessThanOrEqual(3000)
  })

  test('without the task, where the profile says so, tells the task in the recap', () => {
    const sent = send(conversation, {
      budgetTokens: 3000,
      profile: profileOf({ clear: { enabled: false }, keep: { task: false } }),
    })
    expect(outline(sent).slice(0, 4)).toEqual(['system: Be brief', 'recap', 'user: The latest', 'recap'])
    expect(sent.contents[1]).toContain('- The task.')
  })
})

describe('system messages in the middle', () => {
  const note = system('From now on answer in Dutch.')

  test('stay where they are in the tail', () => {
    const conversation = [user('The task.'), ...rounds('a', 20, 300), note, ...rounds('b', 2, 100)]
    const { messages } = send(conversation, { budgetTokens: 3000 })
    expect(messages.slice(-5)[0]).toEqual(note)
  })

  test('are quoted in the recap once they are folded', () => {
    const conversation = [user('The task.'), ...rounds('a', 4, 300), note, ...rounds('b', 20, 300)]
    const { messages, contents } = send(conversation, { budgetTokens: 3000 })
    expect(messages.filter(({ role }) => role === 'system')).toEqual([])
    expect(contents.filter((content) => content.includes('From now on answer in Dutch.'))).toHaveLength(1)
    expect(contents[1]).toMatch(recapIn)
  })
})

describe('the open round', () => {
  const ids = ['x', 'y', 'z']
  const open = [calling(...ids), ...ids.map((id) => resultOf(id, prose(`result of ${id}`, 400)))]
  const profile = profileOf({ keep: { recent_messages: 0 }, clear: { keep_results: 0 } })

  test.each([4, 2])(
    'stays whole, all of its calls and results, while answers are missing too: %i',
    (count) => {
      const standing = open.slice(0, count)
      const conversation = [user('The task.'), ...rounds('a', 30, 300), ...standing]
      const { texts } = send(conversation, { budgetTokens: 2500, profile })
      expect(texts.slice(-count)).toEqual(standing.map((message) => JSON.stringify(message)))
    },
  )

  test('is shortened where it alone is too large, and stays a round', () => {
    const huge = ['a', 'b'].flatMap((id) => round(id, prose('huge', 9000)))
    const conversation = [user('The task.'), ...huge]
    const { messages, passes, tokens } = send(conversation, { budgetTokens: 1500 })
    expect(passes).toContain('clip')
    expect(tokens).toBeLessThanOrEqual(1500)
    expect(messages.at(-2)?.['tool_calls']).toEqual([expect.objectContaining({ id: 'b' })])
    expect(messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'b' })
    expect(messages.at(-1)?.content).toMatch(/^huge: .*\[clipped: 9000 tokens in all\]/)
  })
})
