import OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { ruleBreaks, type Template } from './message-rules.ts'
import { openPrefixCache, type PromptPart } from './prefix-cache.ts'
import { cutRawRequest } from './raw-request.ts'
import { startStrictUpstream, type StrictUpstream, type StrictUpstreamOptions } from './strict-upstream.ts'

// One token a character: every number below can be worked out by hand.
const count = (text: string) => text.length
const hello = { role: 'user' as const, content: 'hello' }

const running: StrictUpstream[] = []
afterEach(async () => {
  for (const upstream of running.splice(0)) await upstream.close()
})

async function start(options: Partial<StrictUpstreamOptions> = {}) {
  const upstream = await startStrictUpstream({
    windowTokens: 1000,
    template: 'lenient',
    outputReserveChecked: true,
    count,
    reply: () => ({ content: 'Good day to you.' }),
    ...options,
  })
  running.push(upstream)
  const client = new OpenAI({ baseURL: upstream.url, apiKey: 'key', maxRetries: 0 })
  return { upstream, client, chat: client.chat.completions }
}

const result = (id?: string) => ({ role: 'tool', tool_call_id: id, content: 'found' })

describe('the rules', () => {
  const system = { role: 'system', content: 'You are terse.' }
  const user = { role: 'user', content: 'Hello' }
  const answer = { role: 'assistant', content: 'Hi' }
  const called = { name: 'search', arguments: '{}' }
  const call = (...ids: (string | undefined)[]) => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ id, type: 'function', function: called })),
  })
  const legacy = [
    { role: 'assistant', content: null, function_call: called },
    { role: 'function', name: 'search', content: 'found' },
  ]

  const [a, ofA] = [call('a'), result('a')]
  const unnamed = call(undefined)

  test.each<[Template, string, string, unknown[]]>([
    [
      'lenient',
      '',
      'system and developer messages anywhere',
      [user, system, { ...system, role: 'developer' }],
    ],
    ['lenient', '', 'several messages of one role in a row', [user, user, answer, answer, user]],
    ['lenient', '', 'parallel calls answered in any order', [user, call('a', 'b'), result('b'), ofA]],
    ['lenient', '', 'an id again in a later round', [user, a, ofA, a, ofA]],
    ['lenient', '', 'an id twice in one round', [user, call('a', 'a'), ofA, ofA]],
    ['lenient', '', 'calls without ids, by count', [user, call(undefined, undefined), result(), result()]],
    ['lenient', '', 'a result without an id beside one with', [user, call('a', 'b'), result(), ofA]],
    ['lenient', '', 'a legacy function call', [user, ...legacy]],
    ['lenient', '', 'content in parts', [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }]],
    ['lenient', 'result-orphan', 'a result before any call', [user, ofA]],
    ['lenient', 'calls-unanswered', 'a call that ends the conversation', [user, a]],
    ['lenient', 'calls-unanswered', 'a call answered by the user', [user, a, user]],
    ['lenient', 'calls-unanswered', 'one of two without a result', [user, call('a', 'b'), ofA, user]],
    [
      'lenient',
      'calls-unanswered result-orphan',
      'a user message between two results',
      [user, call('a', 'b'), ofA, user, result('b')],
    ],
    [
      'lenient',
      'calls-unanswered result-unknown-call',
      'a result that names another call',
      [user, a, result('z')],
    ],
    ['lenient', 'result-unknown-call', 'a result too many', [user, a, ofA, ofA]],
    ['lenient', 'result-orphan', 'one without an id too many', [user, unnamed, result(), result()]],
    ['lenient', 'calls-empty', 'empty tool_calls', [user, { ...answer, tool_calls: [] }]],
    ['lenient', 'content-missing', 'a user message without content', [{ role: 'user', content: null }]],
    ['lenient', 'content-missing', 'an empty list of parts', [{ role: 'user', content: [] }]],
    ['lenient', 'content-missing', 'an assistant that says and calls nothing', [user, { role: 'assistant' }]],
    ['lenient', 'message-shape', 'an unknown role', [{ role: 'wizard', content: 'x' }]],
    ['lenient', 'message-shape message-shape', 'messages that are no objects', ['hello', null]],
    ['strict', '', 'turns with tool rounds', [system, user, a, ofA, answer, user]],
    ['strict', '', 'rounds one after the other', [user, a, ofA, call('b'), result('b')]],
    ['strict', 'system-not-first', 'a second system message', [system, system, user]],
    ['strict', 'system-not-first', 'a system message in the middle', [system, user, answer, system, user]],
    ['strict', 'first-not-user', 'an assistant before the first user', [system, answer, user]],
    ['strict', 'first-not-user', 'a round before the first user', [system, a, ofA, user]],
    ['strict', 'roles-not-alternating', 'two user messages in a row', [user, user, answer]],
    ['strict', 'roles-not-alternating', 'a user behind a result', [user, a, ofA, user]],
    ['strict', 'roles-not-alternating', 'two answers in a row', [user, answer, answer, user]],
  ])('%s: %s for %s', (template, rules, _, messages) => {
    const broken = ruleBreaks(messages, template).map(({ rule }) => rule)
    expect(broken.join(' ')).toBe(rules)
  })

  test("name the calls that were not answered, in OpenAI's words", () => {
    expect(ruleBreaks([user, call('a', 'b', 'c'), result('b')], 'lenient')).toMatchObject([
      {
        index: 1,
        message:
          "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a, c",
        param: 'messages.[2].role',
      },
    ])
  })
})

/** A message that costs one token for its frame and one a character. */
const part = (content: string, frame = 'user'): PromptPart => ({
  hash: `${frame}:${content}`,
  tokens: 1 + content.length,
  text: { frame, frameTokens: 1, content },
})

test('the cache serves the longest prefix, in steps above the minimum, to its owner', () => {
  const cache = openPrefixCache({ minimumTokens: 10, stepTokens: 5, count })
  const alphabet = part('abcdefghijklmnopqrs') // 20 tokens
  const digits = part('0123456') // 8 tokens
  expect(cache.serve('me', [alphabet, digits])).toBe(0)
  // 20 + 8 = 28 tokens in common: 10, and three full steps of 5.
  expect(cache.serve('me', [alphabet, digits, part('new')])).toBe(25)
  // 20, one for the frame, and the four characters 0123.
  expect(cache.serve('me', [alphabet, part('0123xyz')])).toBe(25)
  // Another frame shares nothing.
  expect(cache.serve('me', [alphabet, part('0123456', 'tool')])).toBe(20)
  expect(cache.serve('me', [part('system of today'), alphabet, digits])).toBe(0)
  expect(cache.serve('you', [alphabet, digits])).toBe(0)
  const byDefault = openPrefixCache({ count })
  const long = part('x'.repeat(1200))
  byDefault.serve('me', [long])
  expect(byDefault.serve('me', [long, digits])).toBe(1024 + 128)
})

describe('refuses', () => {
  test('an invalid sequence, in the shape that the SDK reads', async () => {
    const { chat, upstream } = await start()
    const orphan = { role: 'tool' as const, tool_call_id: 'a', content: 'x' }
    await expect(chat.create({ model: 'm', messages: [hello, orphan] })).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param: 'messages.[1].role',
    })
    expect(upstream.requests).toMatchObject([{ status: 400, rejected: { reason: 'result-orphan' } }])
  })

  test('a prompt over the window, with the exact numbers', async () => {
    const { chat } = await start({ windowTokens: 11 })
    await expect(chat.create({ model: 'm', messages: [hello] })).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message:
        "400 This model's maximum context length is 11 tokens. However, your messages resulted in 12 tokens. Please reduce the length of the messages.",
    })
  })

  test('a prompt with an output limit that do not fit together, where that is checked', async () => {
    const checking = await start({ windowTokens: 20 })
    const asked = { model: 'm', messages: [hello], max_tokens: 9 }
    await expect(checking.chat.create({ ...asked, max_tokens: 8 })).resolves.toBeDefined()
    await expect(checking.chat.create(asked)).rejects.toMatchObject({
      message: expect.stringContaining(
        'you requested 21 tokens (12 in the messages, 9 in the completion). Please reduce the length of the messages or completion.',
      ),
    })
    const trusting = await start({ windowTokens: 20, outputReserveChecked: false })
    await expect(trusting.chat.create(asked)).resolves.toBeDefined()
  })

  test('a body that is no JSON, lacks a parameter or has none but empty messages', async () => {
    const { upstream } = await start()
    for (const body of ['{"model":"m","messages":[', '[]', '{"messages":[]}', '{"model":"m","messages":[]}'])
      await fetch(`${upstream.url}/chat/completions`, { method: 'POST', body })
    const reasons = upstream.requests.map(({ rejected }) => rejected?.reason)
    expect(reasons).toEqual(['body', 'body', 'parameter', 'parameter'])
  })
})

test('the raw text of each message is cut out as it was spelled, of equal keys the last', () => {
  const first = '{"role" : "user","content":"a\\"]}\\\\"}'
  const second = '{"n":1e400,"x":[1,{"y":"\\u0041"}]}'
  expect(cutRawRequest(` {"a":[{}],"messages": [ ${first} ,${second}\n] , "tools":[ ]}`)).toEqual({
    messages: [first, second],
    tools: '[ ]',
  })
  expect(cutRawRequest('{"messages":[1],"\\u006dessages":[2, 3]}').messages).toEqual(['2', '3'])
  expect(cutRawRequest('{"messages":[]}')).toEqual({ messages: [], tools: '' })
})
