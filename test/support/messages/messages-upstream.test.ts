import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { validConversation } from '../conversations.ts'
import { propertyRuns } from '../property-runs.ts'
import { live, messageTexts, readReply } from './living.ts'
import { startAsking } from './asking.ts'
import { blockBreaks } from './block-rules.ts'
import { chatOf, toolsOf } from './chat.ts'
import type { MessagesScript, ScriptedBlock } from './script.ts'

const user = (...content: (object | string)[]) => ({ role: 'user', content: content.map(block) })
const model = (...content: (object | string)[]) => ({ role: 'assistant', content: content.map(block) })
const block = (one: object | string) => (typeof one === 'string' ? { type: 'text', text: one } : one)
const call = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} })
const result = (id: string, more: object = { content: 'Seen.' }) => ({
  type: 'tool_result',
  tool_use_id: id,
  ...more,
})
const system = { role: 'system', content: 'Be brief.' }
const thought = { type: 'thinking', thinking: '', signature: 'Eq' }
const hello = { messages: [user('hello')] }
const mark = { cache_control: { type: 'ephemeral' } }

const prefilled = (text: string) => blockBreaks([user('So.'), model(text)], { allowsPrefill: true })
const says = (part: string): unknown => expect.stringContaining(part)
const orphan = (at: string, id: string) =>
  `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
const unanswered = (index: number, ids: string) =>
  `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
const compaction = (more = {}) => ({ type: 'compaction', content: 'What was said.', ...more })
const found = (id: string) => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] })
const search = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: {} })

describe('the rules of blocks', () => {
  const signed = compaction({ signature: 'Eq' })

  test.each<[string, readonly unknown[], ...unknown[]]>([
    [
      'parallel calls, in any order',
      [user('So.'), model(call('a'), call('b')), user(result('b'), result('a'), 'x')],
    ],
    ['a reply in two messages', [user('So.'), model(thought, 'So.'), model(call('a')), user(result('a'))]],
    [
      'neighbours of one role, and system messages between turns',
      [user('So.'), user('So.'), system, model(call('a')), user(result('a')), system],
    ],
    ['an answer without content', [user('So.'), model(call('a')), user(result('a', {}))]],
    [
      'a search, and one that is still running',
      [user('So.'), model(search('s'), found('s'), 'So.'), user('So.'), model(search('t'))],
    ],
    [
      'what was compacted, with what follows',
      [model(compaction()), user('So.'), model(compaction(), 'So.'), user('So.')],
    ],
    ['blocks that nobody knows', [user('So.', { type: 'hologram', light: 'red' })]],
    ['calls without results', [user('So.'), model(call('a'), call('b')), user('So.')], unanswered(1, 'a, b')],
    ['calls at the end', [user('So.'), model(call('a'))], says('prefill'), unanswered(1, 'a')],
    ['results behind a word', [user('So.'), model(call('a')), user('So.', result('a'))], unanswered(1, 'a')],
    [
      'results in two messages',
      [user('So.'), model(call('a'), call('b')), user(result('a')), user(result('b'))],
      unanswered(1, 'b'),
      orphan('messages.3.content.0', 'b'),
    ],
    [
      'a system message between a call and its result',
      [user('So.'), model(call('a')), system, user(result('a'))],
      unanswered(1, 'a'),
      orphan('messages.3.content.0', 'a'),
    ],
    ['a result of nothing', [user(result('a'))], orphan('messages.0.content.0', 'a')],
    [
      'two results of one call',
      [user('So.'), model(call('a')), user(result('a'), result('a'))],
      says('messages.2.content.1: each tool_use must have a single result'),
    ],
    [
      'an id that was there before',
      [user('So.'), model(call('a')), user(result('a')), model(call('a')), user(result('a'))],
      'messages.3: `tool_use` ids must be unique',
    ],
    [
      'half of what the server did itself',
      [user('So.'), model(search('s'), 'So.'), user('So.'), model(found('s'), 'So.'), user('So.')],
      'messages.1: `web_search` tool use with id `s` was found without a corresponding `web_search_tool_result` block',
      says('messages.3.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: s.'),
    ],
    [
      'thinking that leads to nothing',
      [user('So.'), model(thought), user('So.')],
      'messages.1: The final block in an assistant message cannot be `thinking`.',
    ],
    ['a beginning that is not a user’s', [model('So.'), user('So.')], says('first message must use')],
    ['an end that is the model’s', [user('So.'), model('So.'), system], says('prefill')],
    ['empty texts', [user('')], 'messages: text content blocks must be non-empty'],
    ['blank texts', [user(' \n')], 'messages: text content blocks must contain non-whitespace text'],
    ['empty messages', [user()], says('messages.0: all messages must have non-empty content')],
    ['other roles', [{ role: 'tool', content: 'Seen.' }], says('messages.0.role'), says('first')],
    [
      'input that is no object',
      [user('So.'), model({ ...call('a'), input: '{}' }), user(result('a'))],
      'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    ],
    [
      'marks on thinking',
      [user('So.'), model({ ...thought, ...mark }, 'So.'), user('So.')],
      'messages.1.content.0.thinking.cache_control: Extra inputs are not permitted',
    ],
    [
      'results that the model gives itself',
      [user('So.'), model(call('a'), result('a'), 'So.'), user(result('a'))],
      says('blocks can only be in `user` messages'),
      orphan('messages.1.content.1', 'a'),
    ],
    [
      'a compaction behind something',
      [user('So.'), model('So.', compaction()), user('So.')],
      says('first block'),
    ],
    ['a signed one behind something', [user('So.'), model(signed), user('So.')], says('first block')],
    ['a second signed one', [model(signed), user('So.'), model(signed), user('So.')], says('only one')],
  ])('of %s', (_, messages, ...words) => {
    const broken = blockBreaks(messages, { allowsPrefill: false })
    expect(broken.map(({ message }) => message)).toEqual(words)
  })

  test('refuse prefill that ends in a blank, where it is taken', () => {
    expect(prefilled('So')).toEqual([])
    expect(prefilled('So ')).toMatchObject([{ rule: 'prefill' }])
  })
})

describe('answers', () => {
  const script: MessagesScript = {
    content: [
      { type: 'thinking', text: 'Greet.' },
      { type: 'thinking', tokens: 60 },
      { type: 'text', text: '🦊'.repeat(30) },
      { type: 'tool_use', id: 'toolu_1', name: 'wave', input: { hand: 'left' } },
      { type: 'tool_use', id: 'toolu_2', name: 'bow', input: {} },
    ],
  }

  test('plainly, and as a stream that says the same', async () => {
    const [one, other] = [
      await startAsking({ reply: () => script }),
      await startAsking({ reply: () => script }),
    ]
    const [plain, streamed] = [await one.ask(hello), await other.ask({ ...hello, stream: true })]
    const names = [...streamed.text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)
    expect(names.slice(0, 4)).toEqual(['message_start', 'content_block_start', 'ping', 'content_block_delta'])
    expect(names.slice(-2)).toEqual(['message_delta', 'message_stop'])
    expect(readReply(streamed.text)).toEqual(readReply(plain.text))
    expect(JSON.parse(plain.text)).toMatchObject({
      id: 'msg_000001',
      model: 'm',
      stop_reason: 'tool_use',
      // 4 + 5 for the message, 3 to open the reply.
      usage: { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    })
    expect(streamed.text).toContain('"usage":{"input_tokens":12,')
    expect(one.upstream.requests).toMatchObject([{ path: '/v1/messages', promptTokens: 12, rejected: null }])
  })
})

describe('refuses', () => {
  test('what it does not know or misses, in its words', async () => {
    const { ask } = await startAsking()
    const binding = { prefix_mismatch_behavior: 'drop_block' }
    for (const [message, body, headers] of [
      ['temprature: Extra inputs are not permitted', { temprature: 1 }],
      ['context_management: Extra inputs are not permitted', { context_management: { edits: [] } }],
      ['max_tokens: Field required', { max_tokens: undefined }],
      ['anthropic-version: header is required', {}, { 'anthropic-version': '' }],
      [
        'thinking.adaptive.block_binding: Extra inputs are not permitted',
        { thinking: { type: 'adaptive', block_binding: binding } },
      ],
      ['messages: at least one message is required', { messages: [] }],
      ['tools: Tool names must be unique.', { tools: [1, 2].map(() => ({ name: 'a', input_schema: {} })) }],
      ['system: text content blocks must be non-empty', { system: [block('')] }],
    ] as const) {
      const answer = await ask({ ...hello, ...body }, headers)
      expect([answer.status, answer.error]).toEqual([400, message])
    }
    const tried = { ...hello, context_management: { edits: [] } }
    const { status, text } = await ask(tried, { 'anthropic-beta': 'a, context-management-2025-06-27' })
    expect([status, JSON.parse(text)]).toMatchObject([200, { context_management: { applied_edits: [] } }])
  })

  test('a prompt over its window before anything is streamed, with both numbers', async () => {
    const { ask, upstream } = await startAsking({ windowTokens: 11 })
    const answer = await ask({ ...hello, stream: true })
    const error = { type: 'invalid_request_error', message: 'prompt is too long: 12 tokens > 11 maximum' }
    expect(JSON.parse(answer.text)).toEqual({ type: 'error', error, request_id: 'req_000001' })
    expect(upstream.requests[0]).toMatchObject({ status: 400, rejected: { reason: 'window' } })
    const older = await startAsking({ windowTokens: 100, outputReserveChecked: true })
    expect((await older.ask(hello)).error).toBe(
      'input length and `max_tokens` exceed context limit: 12 + 100 > 100, decrease input length or `max_tokens` and try again',
    )
  })
})
const usageOf = async (asked: Promise<{ text: string }>) => {
  const usage = readReply((await asked).text)?.usage ?? {}
  return [usage['input_tokens'], usage['cache_read_input_tokens'], usage['cache_creation']]
}

const written = (short: number, hour = 0) => ({
  ephemeral_5m_input_tokens: short,
  ephemeral_1h_input_tokens: hour,
})
const textBlock = (said: string, more = {}) => ({ type: 'text', text: said, ...more })

describe('the cache', () => {
  const long = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const cache = { minimumTokens: 10 }

  test('is written at marks and read at the longest entry before one, whatever becomes of the marks', async () => {
    const { ask } = await startAsking({ cache })
    const brief = [textBlock('Be brief.', long)]
    const [many, few] = ['x'.repeat(96), 'w']
    const first = user(textBlock(many, mark))
    expect(await usageOf(ask({ system: brief, messages: [first] }))).toEqual([3, 0, written(100, 13)])
    const grown = [user(many), model('y'), user(textBlock('z', mark))]
    expect(await usageOf(ask({ system: brief, messages: grown }))).toEqual([3, 113, written(10)])
    // Without a mark on them they are neither read nor written; the system prompt is.
    expect(await usageOf(ask({ system: brief, messages: [user(many)] }))).toEqual([103, 13, written(0)])
    // An earlier change leaves only what stands before it.
    const changed = [user(few), ...grown.slice(1)]
    expect(await usageOf(ask({ system: brief, messages: changed }))).toEqual([3, 13, written(15)])
    const others = ask({ system: brief, messages: [first] }, { 'x-api-key': 'other' })
    expect(await usageOf(others)).toEqual([3, 0, written(100, 13)])
  })

  test('is looked for at most 20 blocks before a mark', async () => {
    const { ask } = await startAsking({ cache })
    for (const [more, read] of [
      [20, 104],
      [21, 0],
    ] as const) {
      const headers = { 'x-api-key': String(more) }
      await ask({ messages: [user(textBlock('x'.repeat(100), mark))] }, headers)
      const between = Array.from({ length: more - 1 }, (_, place) => `block ${place}`)
      const messages = [user('x'.repeat(100), ...between, textBlock('last', mark))]
      expect((await usageOf(ask({ messages }, headers)))[1]).toBe(read)
    }
  })

  test('has four marks, one in a result and one for the whole request among them, the longer ones first', async () => {
    const { ask } = await startAsking({ cache })
    const messages = [
      user(textBlock('look', mark)),
      model(call('a')),
      user(result('a', { content: [textBlock('seen', mark)] })),
    ]
    const around = {
      tools: [{ name: 'look', input_schema: {}, ...mark }],
      system: [textBlock('Be brief.', mark)],
    }
    expect(await ask({ ...around, messages })).toMatchObject({ status: 200 })
    expect((await ask({ ...around, messages, ...mark })).error).toBe(
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    )
    const late = { system: around.system, messages: [user(textBlock('look', long))] }
    expect((await ask(late)).error).toContain("a ttl='1h' cache_control block must not come after a ttl='5m'")
    const other = { 'x-api-key': 'other' }
    expect(await usageOf(ask({ ...hello, ...mark }, other))).toEqual([12, 0, written(0)])
    const more = { messages: [user('hello, hello')], ...mark }
    expect(await usageOf(ask(more, other))).toEqual([3, 0, written(16)])
  })

  test('is not cut off by the line in which Claude Code says who pays', async () => {
    const { ask } = await startAsking({ cache })
    const asked = (cch: string) =>
      ask({
        system: [
          textBlock(`x-anthropic-billing-header: cc_version=2; cch=${cch};`),
          textBlock('Be brief.', mark),
        ],
        ...hello,
      })
    await asked('1')
    expect(await usageOf(asked('2'))).toEqual([12, 13, written(0)])
  })
})

describe('an imitator', () => {
  const strict = { imitator: { template: 'strict' } } as const

  test('takes what it does not know, and says nothing of a cache', async () => {
    const content = [
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'So.' },
    ] as const
    const { ask } = await startAsking({ ...strict, reply: () => ({ content }) })
    const messages = [user('look'), model(call('a')), user(result('a', { content: 'seen' }))]
    const { text } = await ask({ messages, x_unknown: 1, max_tokens: undefined }, { 'anthropic-version': '' })
    expect(JSON.parse(text)).toMatchObject({
      content: [{ type: 'thinking', thinking: 'Hm.', signature: '' }, { type: 'text' }],
      usage: { input_tokens: 8 + 8 + 4 + 4 + 2 + 8 + 3, output_tokens: 6 },
    })
    expect(text).not.toContain('cache')
  })

  test.each([
    ['users in a row', [user('look'), user('there')]],
    ['words behind results', [user('look'), model(call('a')), user(result('a'), 'Wait.')]],
    ['a system message in the middle', [user('look'), system]],
  ])('has a template that may insist on alternation: %s', async (_, messages) => {
    const { ask } = await startAsking(strict)
    expect((await ask({ messages })).error).toMatch(/^Jinja Exception: .*(alternate|beginning)/)
    const { ask: lenient } = await startAsking({ imitator: { template: 'lenient' } })
    expect((await lenient({ messages })).status).toBe(200)
  })

  test('refuses a prompt over its window in words of its own', async () => {
    const { ask } = await startAsking({ ...strict, windowTokens: 11 })
    expect(await ask(hello)).toMatchObject({
      status: 400,
      error: 'request (12 tokens) exceeds the available context size (11 tokens), try increasing it',
    })
  })
})

/** An upstream that answers what it is told, and a client that asks it. */
async function open() {
  const told: { script: readonly ScriptedBlock[] } = { script: [] }
  const { upstream, ask: post } = await startAsking({
    windowTokens: 1_000_000,
    reply: () => ({ content: told.script }),
  })
  async function ask(around: object, texts: readonly string[], script: readonly ScriptedBlock[]) {
    told.script = script
    return readReply(
      (await post({ ...around, messages: texts.map((each): unknown => JSON.parse(each)) })).text,
    )
  }
  return { upstream, ask }
}

describe('a client lives on it', () => {
  test('any chat: nothing is refused, and all thinking is good to the end', async () => {
    const { upstream, ask } = await open()
    const tools = toolsOf([{ type: 'function', function: { name: 'search', parameters: {} } }])
    const small = { turnsMax: 3, roundsMax: 2, textCharactersMax: 200 }
    const way = fc.record({
      // A reply behind a reply is none that could be asked for.
      messages: validConversation(small).filter((messages) =>
        messages.every(
          ({ role }, index) => role !== 'assistant' || messages[index - 1]?.role !== 'assistant',
        ),
      ),
      ridesBehindResults: fc.boolean(),
      stream: fc.boolean(),
      writing: fc.record({ marksNewest: fc.boolean(), shortensTexts: fc.boolean() }),
    })
    await fc.assert(
      fc.asyncProperty(way, async ({ messages, ridesBehindResults, stream, writing }) => {
        upstream.forget()
        const { system: told, steps } = chatOf(messages, { ridesBehindResults })
        const around = { stream, ...(told?.trim() && { system: told }), tools }
        let thoughts = 0
        const lived = await live({
          steps,
          ask: async ({ messages: before, script }) => {
            if (before[0]?.role !== 'user') return null
            thoughts += 1
            return (await ask(around, messageTexts(before, writing), script))?.blocks ?? null
          },
        })
        const verdicts = upstream.requests.map(({ rejected, transformations }) => [rejected, transformations])
        expect(verdicts).toEqual(verdicts.map(() => [null, []]))
        const texts = lived.flatMap(({ blocks }) => blocks)
        expect(texts.filter((text) => text.includes('"signature"'))).toHaveLength(thoughts)
      }),
      { numRuns: propertyRuns(20) },
    )
  })
})
