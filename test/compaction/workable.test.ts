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

const compactions = (sent: readonly Sent[]): number =>
  new Set(sent.map(({ compaction }) => compaction?.point ?? 0)).size - 1

const isRecap = (content: string): boolean => content.startsWith('<conversation-recap>')

// Story: system prompt and tools took 16,500 tokens of the 22,000 that fitted. From the first request on four messages
// were sent, without a recap, the newest result was clipped from 1,225 to 480 tokens, and 4,300 tokens stayed unused.
describe('behind a large system prompt', () => {
  const files = Array.from({ length: 40 }, (_, index) => round(`f${index}`, prose(`file ${index}`, 1225)))
  const sent = sendGrowing([system(prose('rules', 16_500)), user('Read all files.'), ...files.flat()], {
    budgetTokens: 22_000,
    policy,
  })

  test('every newest result is whole', () => {
    const read = sent.slice(1).map(({ contents }) => contents.at(-1))
    expect(read).toEqual(files.map((_, index) => prose(`file ${index}`, 1225)))
  })

  test('the rounds before it, the task and a recap stand there, too', () => {
    for (const { contents, messages } of sent.slice(6)) {
      expect(contents[1]).toBe('Read all files.')
      expect(contents.filter(isRecap)).toHaveLength(1)
      expect(messages.filter(({ role }) => role === 'tool').length).toBeGreaterThanOrEqual(2)
    }
  })

  test('the room is used: a compaction comes only when the next round would not fit', () => {
    // A round takes some 1,260 tokens of a room of 5,500, and a compaction ends with two of them at the least.
    expect(compactions(sent)).toBeLessThanOrEqual(20)
    const before = sent.filter(
      ({ compaction }, index) => sent[index + 1]?.compaction?.point !== compaction?.point,
    )
    for (const { tokens } of before.slice(0, -1)) expect(tokens).toBeGreaterThan(22_000 - 1300)
  })
})

// Story: an observation of 11,700 tokens arrived as a user message, in a budget of 12,000; 22 tool rounds followed. In all
// 22 requests the model got the same three messages: system, the task as `[cut]`, that user message whole.
describe('behind a huge user message', () => {
  const rounds = Array.from({ length: 22 }, (_, index) => round(`r${index}`, prose(`result ${index}`, 300)))
  const begun = [system('Be brief.'), user(prose('The task', 200)), assistant('Looking.')]
  const sent = sendGrowing([...begun, user(prose('observed', 11_700)), ...rounds.flat()], {
    budgetTokens: 12_000,
    policy,
  })

  test('the model sees what it called and what came of it', () => {
    for (const [index, { contents }] of sent.slice(2).entries())
      expect(contents.at(-1)).toBe(prose(`result ${index}`, 300))
  })

  test('the task stays whole, and the message keeps its quarter, head and tail', () => {
    for (const { contents, tokens } of sent.slice(2)) {
      expect(contents[1]).toBe(prose('The task', 200))
      const observed = contents.find((content) => content.startsWith('observed:')) ?? ''
      expect(observed.length / 3).toBeGreaterThan(12_000 / 4 - 400)
      expect(tokens).toBeLessThanOrEqual(12_000)
    }
  })

  test('no two prompts are the same', () => {
    expect(new Set(sent.map(({ texts }) => texts.join())).size).toBe(sent.length)
  })

  test('while it is the newest message it keeps three quarters of the room and more', () => {
    const [, newest] = sent
    expect(newest?.contents.at(-1)?.length ?? 0).toBeGreaterThan(11_700 * 3 * 0.75)
    expect(newest?.contents[1]).toBe(prose('The task', 200))
  })
})

// Story: a recap of up to four fifths of the room left none to grow, so that at many points every request was a compaction,
// and hardly more than half of the newest ten assistant messages were messages of their own.
describe('an agent run of many rounds', () => {
  const rounds = Array.from({ length: 120 }, (_, index) => [
    assistant(prose(`thought ${index}`, 60)),
    ...round(`r${index}`, prose(`result ${index}`, 330), 'run', { step: index, note: prose('note', 90) }),
  ])
  const sent = sendGrowing([system('Be brief.'), user(prose('The task', 900)), ...rounds.flat()], {
    budgetTokens: 12_000,
    policy,
  })

  test('keeps most of its newest actions as messages, and recaps within a third of the room', () => {
    for (const { messages, contents } of sent.slice(40)) {
      expect(messages.filter(({ role }) => role === 'assistant').length).toBeGreaterThanOrEqual(14)
      const recap = contents.find(isRecap) ?? ''
      expect(recap.length / 3).toBeLessThanOrEqual(12_000 / 3)
    }
  })

  test('is compacted once in several rounds', () => {
    expect(compactions(sent)).toBeLessThanOrEqual(sent.length / 6)
  })
})

describe('one message larger than the room', () => {
  const conversation = [
    user('The task.'),
    ...round('a', 'done'),
    assistant('Ready.'),
    user(prose('pasted', 5000)),
  ]

  test('goes on whole where a user wrote it: the upstream says that it is too large', () => {
    const { contents } = send(conversation, { budgetTokens: 4000, policy })
    expect(contents.at(-1)).toBe(prose('pasted', 5000))
    expect(contents[0]).toBe('The task.')
  })

  test('is clipped where the profile says that users send observations', () => {
    const clipping = policyOf({ ...policy, clip: { newest_user: true } })
    const { contents, tokens } = send(conversation, { budgetTokens: 4000, policy: clipping })
    expect(contents.at(-1)).toMatch(/^pasted: .*\[clipped: 5000 tokens in all\]/)
    expect(contents.at(-1)?.length ?? 0).toBeGreaterThan(4000 * 3 * 0.75 * 0.9)
    expect(tokens).toBeLessThanOrEqual(4000)
  })

  test('goes without its images where its words fit without them', () => {
    // With them it was larger than the room, and so it was left as it was, for the upstream to refuse.
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const shown = { role: 'user', content: [{ type: 'text', text: prose('shown', 3850) }, image, image] }
    const { messages, tokens } = send([...conversation.slice(0, -1), shown], { budgetTokens: 4000, policy })
    expect(JSON.stringify(messages.at(-1))).toContain(prose('shown', 3850))
    expect(tokens).toBeLessThanOrEqual(4000)
  })

  test('is cut to half of the room where a tool printed it, and the round stays a round', () => {
    const printed = [user('The task.'), ...round('a', 'done'), ...round('b', prose('printed', 9000))]
    const { messages, tokens } = send(printed, { budgetTokens: 4000, policy })
    expect(String(messages.at(-1)?.content).length).toBeGreaterThan(2000 * 3 * 0.9)
    expect(messages.at(-2)?.['tool_calls']).toEqual([expect.objectContaining({ id: 'b' })])
    expect(tokens).toBeLessThanOrEqual(4000)
  })

  test('of twenty parallel results each keeps its head and tail', () => {
    const calls = Array.from({ length: 20 }, (_, index) => ({
      id: `c${index}`,
      type: 'function',
      function: { name: 'read', arguments: '{}' },
    }))
    const results = calls.map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: prose(`text ${id}`, 900),
    }))
    const parallel = [user('The task.'), { role: 'assistant', content: null, tool_calls: calls }, ...results]
    const { contents, tokens } = send(parallel, { budgetTokens: 8000, policy })
    for (const { id } of calls)
      expect(contents.find((content) => content.startsWith(`text ${id}:`))?.length ?? 0).toBeGreaterThan(450)
    expect(tokens).toBeLessThanOrEqual(8000)
    expect(tokens).toBeGreaterThan(6000)
  })
})
