import { describe, expect, test } from 'vitest'
import { readReply } from './living.ts'
import { startAsking } from './asking.ts'
import { blockBreaks } from './block-rules.ts'

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

const says = (part: string): unknown => expect.stringContaining(part)
const orphan = (at: string, id: string) =>
  `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
const unanswered = (index: number, ids: string) =>
  `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
const compaction = (more = {}) => ({ type: 'compaction', content: 'What was said.', ...more })
const found = (id: string) => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] })
const search = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: {} })

const prefilled = (text: string) => blockBreaks([user('So.'), model(text)], { allowsPrefill: true })

describe('the rules of blocks', () => {
  const signed = compaction({ signature: 'Eq' })

  const so = user('So.')
  const [asked, answered] = [model(call('a')), user(result('a'))]
  const both = model(call('a'), call('b'))
  const orphanIn3 = (id: string) => orphan('messages.3.content.0', id)
  const badInput = model({ ...call('a'), input: '{}' })

  test.each<[string, readonly unknown[], ...unknown[]]>([
    ['parallel calls, in any order', [so, both, user(result('b'), result('a'), 'x')]],
    ['a reply in two messages', [so, model(thought, 'So.'), asked, answered]],
    ['neighbours, and system messages between turns', [so, so, system, asked, answered, system]],
    ['an answer without content', [so, asked, user(result('a', {}))]],
    ['a search, and one that runs', [so, model(search('s'), found('s'), 'So.'), so, model(search('t'))]],
    ['what was compacted', [model(compaction()), so, model(compaction(), 'So.'), so]],
    ['blocks that nobody knows', [user('So.', { type: 'hologram', light: 'red' })]],
    ['calls without results', [so, both, so], unanswered(1, 'a, b')],
    ['calls at the end', [so, asked], says('prefill'), unanswered(1, 'a')],
    ['results behind a word', [so, asked, user('So.', result('a'))], unanswered(1, 'a')],
    ['results in two', [so, both, answered, user(result('b'))], unanswered(1, 'b'), orphanIn3('b')],
    ['a system message between', [so, asked, system, answered], unanswered(1, 'a'), orphanIn3('a')],
    ['a result of nothing', [answered], orphan('messages.0.content.0', 'a')],
    ['two results', [so, asked, user(result('a'), result('a'))], says('2.content.1: each tool_use must')],
    ['an id again', [so, asked, answered, asked, answered], 'messages.3: `tool_use` ids must be unique'],
    ['a call of the server’s', [so, model(search('s'), 'So.'), so], says('`s` was found without a corr')],
    [
      'its result',
      [so, model(found('s'), 'So.'), so],
      says('1.content.0: unexpected `tool_use_id` found in `web'),
    ],
    [
      'thinking for nothing',
      [so, model(thought), so],
      says('The final block in an assistant message cannot'),
    ],
    ['a beginning that is not a user’s', [model('So.'), so], says('first message must use')],
    ['an end that is the model’s', [so, model('So.'), system], says('prefill')],
    ['empty texts', [user('')], 'messages: text content blocks must be non-empty'],
    ['blank texts', [user(' \n')], 'messages: text content blocks must contain non-whitespace text'],
    ['empty messages', [user()], says('messages.0: all messages must have non-empty content')],
    ['other roles', [{ role: 'tool', content: 'Seen.' }], says('messages.0.role'), says('first')],
    ['input that is no object', [so, badInput, answered], says('input: Input should be a valid dict')],
    [
      'marks on thinking',
      [so, model({ ...thought, ...mark }, 'So.'), so],
      says('thinking.cache_control: Extra'),
    ],
    [
      'results that the model gives itself',
      [so, model(call('a'), result('a'), 'So.'), answered],
      says('blocks can only be in `user` messages'),
      orphan('messages.1.content.1', 'a'),
    ],
    ['a compaction behind something', [so, model('So.', compaction()), so], says('first block')],
    ['a signed one behind something', [so, model(signed), so], says('first block')],
    ['a second signed one', [model(signed), so, model(signed), so], says('only one')],
  ])('of %s', (_, messages, ...words) => {
    const broken = blockBreaks(messages, { allowsPrefill: false })
    expect(broken.map(({ message }) => message)).toEqual(words)
  })

  test('refuse prefill that ends in a blank, where it is taken', () => {
    expect(prefilled('So')).toEqual([])
    expect(prefilled('So ')).toMatchObject([{ rule: 'prefill' }])
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
    const { ask } = await startAsking(strict)
    const { status, text } = await ask(
      { ...hello, x_unknown: 1, max_tokens: undefined },
      { 'anthropic-version': '' },
    )
    expect(status).toBe(200)
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
