import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ruleBreaks } from '../support/strict-upstream/message-rules.ts'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { growing, longRun, type TestMessage } from '../support/conversations.ts'
import { completion, json, overflow, type Script } from '../support/fake-upstream.ts'
import { standWith, type Stand } from '../support/stand.ts'
import { chatOf, postChat, rawMessages } from '../support/post-chat.ts'

const repair = { repair: true }
const smallWindow = { ...repair, window: { tokens: 4_096, output_reserve: 512 } }

/** Takes what OpenAI takes, and refuses the rest in its words. */
const judge: Script = (received) => {
  const [first] = ruleBreaks(
    rawMessages(received).map((text): unknown => JSON.parse(text)),
    'lenient',
  )
  return first === undefined
    ? completion('fine')
    : json({ error: { message: first.message, param: first.param } }, 400)
}

const call = (id: string, name = 'read_file') => ({
  id,
  type: 'function',
  function: { name, arguments: '{}' },
})
const calling = (...ids: string[]): TestMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => call(id)),
})
const result = (id: string, content = 'seen'): TestMessage => ({ role: 'tool', tool_call_id: id, content })
const user = (content: string): TestMessage => ({ role: 'user', content })
const unanswered = (id: string) => result(id, '[no result was recorded for this call]')

/** Two files were to be read when the user broke the turn off. */
const aborted = [user('Read both.'), calling('a', 'b'), result('a', 'one'), user('Stop. Only the first.')]

const bodiesOf = (at: Stand): readonly string[] => at.upstream.requests.map(({ body }) => body.toString())

const rolesOf = (at: Stand, index: number): string =>
  rawMessages(at.upstream.requests[index])
    .map((text) => /"role":"(\w+)"/.exec(text)?.[1])
    .join()

const failuresOf = (at: Stand): readonly string[] =>
  at.foldgate.log.filter((line) => line.includes('a part of Foldgate failed'))

/** The rules of tool calls that are broken in what was sent, but for calls of the last round that wait. */
function brokenCalls(raw: readonly string[]): readonly string[] {
  const sent = raw.map((text): TestMessage => JSON.parse(text))
  const open = sent.findLastIndex(({ role }) => role !== 'tool')
  return ruleBreaks(sent, 'lenient')
    .filter(({ rule }) => rule.startsWith('result-') || rule.startsWith('calls-'))
    .filter(({ rule, index }) => rule !== 'calls-unanswered' || index !== open)
    .filter(({ rule, index }) => rule !== 'calls-empty' || sent[index]?.role === 'assistant')
    .map(({ rule }) => rule)
}

describe('a turn that was broken off, whose calls no upstream forgives', () => {
  test('is answered where the profile asks for repair, and what it took is told', async () => {
    await using at = await standWith(judge, { profile: repair })
    const reply = await postChat(at.url, chatOf(aborted))
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('compacted;reason=repair')
    expect(reply.header('x-foldgate-repairs')).toBe('answered=1;paired=0;orphans=0;emptied=0')
    expect(reply.header('x-foldgate-passes')).toBeNull()
    const mended = [...aborted.slice(0, 3), unanswered('b'), ...aborted.slice(3)]
    expect(bodiesOf(at)).toEqual([JSON.stringify(chatOf(mended))])
  })

  test("keeps every byte but for what was put in, and the body's coding is taken off with it", async () => {
    const body = String.raw`{ "seed":1e2,"messages" :[ {"content": "\u0041" , "role":"user"} ,
      {"tool_calls":[{"id":"a"}],"role":"assistant","z":1.0}
      ,{"role":"user","content":"é"} ] ,"model":"m","x":{"a": [ ]}}`
    await using at = await standWith(judge, { profile: repair })
    const headers = { 'content-encoding': 'gzip' }
    const reply = await postChat(at.url, gzipSync(body), headers)
    expect(reply.status).toBe(200)
    const [received] = at.upstream.requests
    expect(received?.headers['content-encoding']).toBeUndefined()
    expect(received?.body.toString().replaceAll(/\s*,?\{"role":"tool"[^}]*\},?\s*/g, ',')).toBe(
      body.replaceAll(/\s*,(?=\{"role":"user")/g, ','),
    )
  })

  test.each<[string, object, Record<string, string>, string]>([
    ['without repair', {}, {}, 'relayed'],
    ['where Foldgate only observes', { ...repair, observe: true }, {}, 'relayed;reason=observe'],
    ['where the request says off', repair, { 'x-foldgate-compact': 'off' }, 'relayed;reason=off'],
    ['where the request goes by', repair, { 'x-foldgate-bypass': '1' }, 'bypassed'],
  ])('%s goes on as it came', async (_name, profile, headers, action) => {
    await using at = await standWith(judge, { profile })
    const reply = await postChat(at.url, chatOf(aborted), headers)
    expect(reply.status).toBe(400)
    expect(reply.action).toBe(action)
    expect(reply.header('x-foldgate-repairs')).toBeNull()
    expect(bodiesOf(at)).toEqual([JSON.stringify(chatOf(aborted))])
  })
})

describe('results whose calls the client has cut off', () => {
  const conversation = [
    result('gone', 'the file says 42'),
    user('What does it say?'),
    result('gone', 'again 42'),
    { role: 'assistant', content: 'It says 42.' },
    user('Sure?'),
  ]

  test('are joined with the user messages beside them where roles have to alternate, however small the body', async () => {
    await using strict = await standWith(judge, { profile: { ...repair, template: 'strict' } })
    expect((await postChat(strict.url, chatOf(conversation))).action).toBe('compacted;reason=repair')
    expect(rolesOf(strict, 0)).toBe('user,assistant,user')

    const alternate = json({ error: { message: 'Conversation roles must alternate user/assistant' } }, 400)
    await using learning = await standWith([alternate, completion('fine')], { profile: repair })
    expect((await postChat(learning.url, chatOf(conversation))).action).toBe('restored;reason=strict')
    expect(rolesOf(learning, 1)).toBe('user,assistant,user')
    expect((await postChat(learning.url, chatOf(conversation))).action).toBe('compacted;reason=repair')
    expect(rolesOf(learning, 2)).toBe('user,assistant,user')
  })

  test('are not what the user said: the latest message stays word for word beside a large one (P4)', async () => {
    const wish = 'Keep the name Zarathustra in mind and go on.'
    const messages = [
      ...longRun(6, 2, 0.5),
      { role: 'assistant', content: 'Done.' },
      user(wish),
      result('x', 'word '.repeat(20_000)),
    ]
    await using at = await standWith(judge, { profile: smallWindow })
    const reply = await postChat(at.url, chatOf(messages))
    expect(reply.action).toBe('compacted')
    expect(reply.header('x-foldgate-repairs')).toBe('answered=0;paired=0;orphans=1;emptied=0')
    expect(rawMessages(at.upstream.requests[0])).toContain(JSON.stringify(user(wish)))
    expect(bodiesOf(at)[0]?.length).toBeLessThan(40_000)
    expect(bodiesOf(at)[0]).not.toContain('The user said')
  })
})

describe('a repaired request that is refused', () => {
  const refused = json({ error: { message: 'I cannot make sense of this.' } }, 422)

  test("is sent as the client's own bytes, and so is the next (P2)", async () => {
    await using at = await standWith([refused, completion('fine')], { profile: repair })
    const first = await postChat(at.url, chatOf(aborted))
    expect(first.action).toBe('restored;reason=original')
    expect(first.header('x-foldgate-repairs')).toBeNull()
    const second = await postChat(at.url, chatOf(aborted))
    expect(second.action).toBe('relayed;reason=refused-before')
    expect(bodiesOf(at).slice(1)).toEqual([JSON.stringify(chatOf(aborted)), JSON.stringify(chatOf(aborted))])
  })

  test('and too long as it came is recovered in the repaired form', async () => {
    await using at = await standWith([refused, overflow(4_096, 6_500), judge], { profile: repair })
    const messages = [...longRun(12, 3, 0.5), ...aborted]
    const reply = await postChat(at.url, chatOf(messages, { max_tokens: 1_000 }))
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('recovered')
    expect(bodiesOf(at)[1]).toBe(JSON.stringify(chatOf(messages, { max_tokens: 1_000 })))
    expect(bodiesOf(at)[2]).toContain('[no result was recorded for this call]')
  })
})

test('an overflow of a repaired request is recovered, and what is sent obeys the rules', async () => {
  await using at = await standWith([overflow(4_096, 6_500), judge], { profile: repair })
  const reply = await postChat(at.url, chatOf([...longRun(12, 3, 0.5), ...aborted]))
  expect(reply).toMatchObject({ status: 200, action: 'recovered' })
  expect(reply.header('x-foldgate-repairs')).toBe('answered=1;paired=0;orphans=0;emptied=0')
})

/** A long run of an agent that lost some of its results, got some twice, and was interrupted now and then. */
const batteredRun = (rounds: number): TestMessage[] =>
  longRun(rounds, 11, 0.5).flatMap((message, index): TestMessage[] => {
    if (message.role === 'assistant' && index % 5 === 0) return [message, user(`Wait, step ${index}.`)]
    if (message.role !== 'tool') return [message]
    if (index % 7 === 0) return []
    return index % 11 === 0 ? [message, message] : [message]
  })

describe('a long run with lost, repeated and late results', () => {
  test('is compacted as it grows, obeys the rules, and begins with what was sent before but where a compaction falls (P5)', async () => {
    const store = openMemoryStore({ bytesMax: 10_000_000, lifetimeMs: 0 })
    let compactions = 0
    const counting: Store = {
      ...store,
      putIfAbsent: (key, value) => {
        if (key.startsWith('compaction:')) compactions += 1
        return store.putIfAbsent(key, value)
      },
    }
    await using at = await standWith(completion('fine'), { profile: smallWindow, store: counting })
    const actions = new Set<string | null>()
    let before: readonly string[] = []
    let compactionsBefore = 0
    for (const messages of growing(batteredRun(24))) {
      actions.add((await postChat(at.url, chatOf(messages))).action)
      const sent = rawMessages(at.upstream.requests.at(-1))
      expect(brokenCalls(sent)).toEqual([])
      if (compactions === compactionsBefore) expect(sent.slice(0, before.length)).toEqual(before)
      before = sent
      compactionsBefore = compactions
    }
    expect(failuresOf(at)).toEqual([])
    expect([...actions]).toEqual(['relayed', 'compacted;reason=repair', 'compacted'])
    expect(compactions).toBeGreaterThan(1)
    expect(compactions).toBeLessThan(15)
  })
})
