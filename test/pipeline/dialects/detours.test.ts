import { describe, expect, test } from 'vitest'
import { fakeUpstream, json } from '../../support/fake-upstream.ts'
import type { ScriptedBlock } from '../../support/messages/script.ts'
import * as messages from '../messages/stand.ts'
import * as responses from '../responses/stand.ts'
import { dialects } from './both.ts'

// What the model asks of Foldgate is answered within one reply: a call that reads back, and the rest of a reply that was cut.

const ways = [
  { how: 'plain', stream: false },
  { how: 'streamed', stream: true },
]

describe.each(dialects.flatMap((dialect) => ways.map((way) => ({ ...dialect, ...way }))))(
  'in $name, $how',
  ({ open, said, types, user, roundsOf, stream }) => {
    /** Past a window of 4,000 by half. */
    const history = [user('Read every part.'), ...roundsOf(10)]
    const rest = 'That is all.'

    // They went on behind a shorter history, where the server left them out.
    test('thoughts that led to a reading back are left out where the history has to be shortened behind it', async () => {
      const at = await open({
        windowTokens: 4_000,
        profile: { recall: { enabled: true }, continuation: { max: 2 } },
        reply: (sent) => {
          const newest = JSON.stringify(sent.slice(-3))
          if (newest.includes('cut off')) return { says: rest }
          if (!newest.includes('_recall')) return { thinks: 20, recalls: true }
          return {
            thinks: 20,
            says: 'a line of the report that is being written here '.repeat(60),
            isCut: true,
          }
        },
      })
      expect(JSON.stringify(said(await at.ask(history, { stream })).parts)).toContain(rest)
      const lengths = at.sent().map((request) => request.history.length)
      expect(lengths).toHaveLength(3)
      expect(lengths[2]).toBeLessThan(lengths[1] ?? 0)
      expect(at.trouble()).toEqual([])
    })

    // The shorter history was on record, and behind it the server left out the thoughts that the client had got and sent back.
    test('thoughts of a reply that was cut are not lost to a history that was shortened for the rest of it', async () => {
      const at = await open({
        windowTokens: 4_000,
        profile: { window: { tokens: 4_000, output_reserve: 500 }, continuation: { max: 2 } },
        reply: (sent) => {
          if (JSON.stringify(sent.at(-1)).includes('cut off')) return { says: rest }
          const isLong = sent.length > 1 && !JSON.stringify(sent).includes(rest)
          return isLong ? { thinks: 8, says: 'a line of it '.repeat(350), isCut: true } : { says: 'Done.' }
        },
      })
      const limits = types.includes('thinking') ? { max_tokens: 500 } : {}
      const { parts, entries } = said(await at.ask(history, { stream, ...limits }))
      expect(parts.map(({ type }) => type)).toEqual(types)
      expect(JSON.stringify(parts)).toContain(rest)
      const [cut, shortened] = at.sent().map((request) => JSON.stringify(request.history.slice(0, 3)))
      expect(shortened).not.toBe(cut)
      const next = [...history, ...entries, user('And then?')]
      expect((await at.ask(next, { stream, ...limits })).status).toBe(200)
      expect(at.trouble()).toEqual([])
    })
  },
)

/** The agent asks for streams. */
const isSummary = ({ body }: { readonly body: Buffer }): boolean => !body.includes('"stream":true')

describe.each(dialects)('in $name', ({ open, said, user, roundsOf }) => {
  test('a summary is asked of the same model in the same dialect, and stands in the place of what was folded', async () => {
    const at = await open({
      windowTokens: 4_000,
      profile: { strategy: 'summarize', summary: { wait_ms: 10_000 } },
      reply: (_, body) => ({
        says:
          body['stream'] === true
            ? 'I go on.'
            : '## Task\nRead every part.\n## State\nThe parts up to the newest were read, and each said that the quick brown fox jumps over the dog.',
      }),
    })
    const conversation = [user('Read every part.'), ...roundsOf(10)]
    let summary = ''
    for (let turn = 0; turn < 12 && summary !== 'ready'; turn += 1) {
      const answer = await at.ask(conversation, { stream: true })
      expect(answer.status).toBe(200)
      summary = answer.headers.get('x-foldgate-summary') ?? ''
      conversation.push(...said(answer).entries, user(`Go on with part ${turn}.`), ...roundsOf(1, 20 + turn))
      if (summary === 'pending') await expect.poll(() => at.sent().some(isSummary)).toBe(true)
    }
    expect(summary).toBe('ready')
    expect(at.trouble()).toEqual([])
    expect(at.sent().some(isSummary)).toBe(true)
    expect(at.sent().at(-1)?.body.toString()).toContain('<conversation-summary>')
  })
})

const tools = [messages.readTool]
const toolUse = (id: string, input: Readonly<Record<string, unknown>>, name = 'read'): ScriptedBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
})
const recall = toolUse('toolu_recall', { messages: '#3' }, 'recall_conversation')
const resultOf = (id: string) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: 'fox' }],
})

/** Past a window of 4,000 by half. */
const long = [messages.user('Read every part.'), ...messages.roundsOf(10)]
const longInput = [responses.user('Read every part.'), ...responses.roundsOf(10)]

describe.each(ways)('of the Messages API alone, $how', ({ stream }) => {
  test('a call that reads back: the client sees it not, and thinking only that it can send back', async () => {
    const stand = await messages.openStand({
      windowTokens: 4_000,
      profile: { recall: { enabled: true } },
      reply: ({ messages: sent }) => {
        const said = JSON.stringify(sent)
        if (said.includes('And then?')) return { content: [{ type: 'text', text: 'All is well.' }] }
        if (!said.includes('toolu_recall'))
          return { content: [{ type: 'thinking', text: 'What did it say?' }, recall] }
        const text = { type: 'text', text: 'It said fox.' } as const
        return { content: [{ type: 'thinking', tokens: 30 }, text, toolUse('toolu_next', { part: 11 })] }
      },
    })
    const answer = await messages.post(stand, { messages: long, tools, stream })
    expect(answer.status).toBe(200)
    const content = messages.contentOf(answer)
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'What did it say?' },
      { type: 'text', text: 'It said fox.' },
      { type: 'tool_use', id: 'toolu_next', input: { part: 11 } },
    ])
    expect(messages.messageIn(answer)['stop_reason']).toBe('tool_use')
    expect(answer.text).not.toContain('recall')
    const [first, second, ...others] = stand.upstream.requests
    expect(others).toEqual([])
    // The model reads it beside its own thinking, in whole messages behind the others.
    expect(second?.rawMessages.slice(0, -2)).toEqual(first?.rawMessages)
    expect(second?.messages.at(-2)?.blocks.map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
    expect(second?.rawMessages.at(-1)).toContain('the quick brown fox')

    // The client goes on with what it got, and the server misses nothing of it.
    const next = [...long, { role: 'assistant', content }, resultOf('toolu_next'), messages.user('And then?')]
    expect((await messages.post(stand, { messages: next, tools, stream })).status).toBe(200)
    expect(messages.troubleOf(stand)).toEqual([])
  })

  // Older models that think with a budget want a turn that calls tools to begin with thinking.
  test('a model that wants its thinking before open calls has it, in both requests and the next', async () => {
    const stand = await messages.openStand({
      windowTokens: 4_000,
      binding: 'none',
      profile: { recall: { enabled: true } },
      reply: ({ messages: sent }) =>
        JSON.stringify(sent).includes('toolu_recall')
          ? { content: [toolUse('toolu_next', {})] }
          : { content: [{ type: 'thinking', tokens: 30 }, recall] },
    })
    const thinking = { type: 'enabled', budget_tokens: 1_024 }
    const told = Array.from({ length: 10 }, (_each, part) => [
      messages.user(`part ${part}: ${'the quick brown fox jumps over the dog '.repeat(75)}`),
      { role: 'assistant', content: `I have part ${part}.` },
    ])
    const asked = [...told.flat(), messages.user('What did it say?')]
    const around = { tools, stream, thinking, max_tokens: 2_000 }
    const content = messages.contentOf(await messages.post(stand, { messages: asked, ...around }))
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
    const next = [...asked, { role: 'assistant', content }, resultOf('toolu_next')]
    expect((await messages.post(stand, { messages: next, ...around })).status).toBe(200)
    expect(messages.troubleOf(stand)).toEqual([])
  })

  // What was left was told by our count and a guess of the model's tokens, though the server had counted nearly all of the
  // prompt: it was compacted for the rest of a reply, and the next request found none of that.
  test('a prompt that the server has counted is not compacted for the rest of a reply that fits behind it', async () => {
    const stand = await messages.openStand({
      windowTokens: 6_000,
      profile: { continuation: { max: 2 } },
      reply: ({ messages: sent }) => {
        const isRest = JSON.stringify(sent.at(-1)).includes('cut off')
        const isLong = sent.length > 12
        return {
          content: [{ type: 'text', text: 'It goes on like this.' }],
          stopReason: isLong && !isRest ? 'max_tokens' : 'end_turn',
        }
      },
    })
    for (const count of [5, 7]) {
      const sent = [messages.user('Read every part.'), ...messages.roundsOf(count)]
      const answer = await messages.post(stand, { messages: sent, tools, stream, max_tokens: 500 })
      expect(answer.status).toBe(200)
    }
    const [, cut, rest, ...others] = stand.upstream.requests
    expect(others).toEqual([])
    expect(rest?.rawMessages.slice(0, -2)).toEqual(cut?.rawMessages)
  })
})

const summary = json({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: '## Task\nRead every part.\n## State\nAll parts so far say the same.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 900, output_tokens: 30 },
})

// A summary model at Anthropic was asked without the version that its API demands.
test('a summary model at another upstream is asked with all that the API demands', async () => {
  await using cheap = await fakeUpstream(summary)
  const stand = await messages.openStand({
    windowTokens: 8_000,
    profile: { strategy: 'summarize', summary: { upstream: 'cheap', model: 'small', mode: 'blocking' } },
    foldgate: { settings: { upstreams: { cheap: { url: cheap.url, forward_client_key: true } } } },
    reply: () => ({ content: [{ type: 'text', text: 'I go on.' }] }),
  })
  const conversation = [messages.user('Read every part.')]
  let told: string | null = null
  for (let turn = 0; turn < 24 && told !== 'ready'; turn += 1) {
    conversation.push(...messages.roundsOf(1, turn))
    const answer = await messages.post(stand, { messages: conversation, tools })
    told = answer.headers.get('x-foldgate-summary')
    conversation.push({ role: 'assistant', content: messages.contentOf(answer) }, messages.user('Go on.'))
  }
  expect(told).toBe('ready')
  const [asked] = cheap.requests
  expect(asked?.url).toBe('/v1/messages')
  expect(asked?.headers).toMatchObject({ 'x-api-key': 'key', 'anthropic-version': '2023-06-01' })
  expect(JSON.parse(asked?.body.toString() ?? '')).toMatchObject({ model: 'small', max_tokens: 9_216 })
})

const readBack = {
  type: 'function_call',
  callId: 'call_recall',
  name: 'recall_conversation',
  arguments: '{"messages":"#3"}',
} as const

describe.each(ways)('of the Responses API alone, $how', ({ stream }) => {
  test('a call that reads back: the client sees neither it nor the thoughts behind it', async () => {
    const stand = await responses.openStand({
      windowTokens: 4_000,
      profile: { recall: { enabled: true } },
      reply: ({ items }) =>
        items.some(({ type, name }) => type === 'function_call' && name === 'recall_conversation')
          ? { output: [{ type: 'reasoning' }, { type: 'message', text: 'It said fox.' }] }
          : { output: [{ type: 'reasoning' }, readBack] },
    })
    const around = { tools: [responses.readTool], stream, include: ['reasoning.encrypted_content'] }
    const answer = await responses.post(stand, { input: longInput, ...around })
    expect(answer.status).toBe(200)
    const output = responses.outputOf(answer)
    expect(output).toMatchObject([{ type: 'message', content: [{ text: 'It said fox.' }] }])
    expect(stand.upstream.requests).toHaveLength(2)
    const read = stand.upstream.requests[1]?.items.at(-1)
    expect(JSON.stringify(read)).toContain('the quick brown fox')
    expect(responses.troubleOf(stand)).toEqual([])

    // The client goes on with what it got, and the server misses nothing of it.
    const next = [...longInput, ...output, responses.user('And then?')]
    expect((await responses.post(stand, { input: next, ...around })).status).toBe(200)
    expect(responses.troubleOf(stand)).toEqual([])
  })
})

// A client may name the answer by its id in its next request: what the server has under it is the first of several.
test('where the server keeps the answer, it is the one that came', async () => {
  const stand = await responses.openStand({
    windowTokens: 100_000,
    profile: { recall: { enabled: true }, continuation: { max: 2 } },
    reply: () => ({
      output: [{ type: 'message', text: 'Here is the first line of it all, and' }],
      end: { status: 'incomplete', reason: 'max_output_tokens' },
    }),
  })
  const answer = await responses.post(stand, { input: [responses.user('Write it all.')], tools, store: true })
  expect(answer.text).toContain('"status":"incomplete"')
  expect(stand.upstream.requests).toHaveLength(1)
  expect(stand.upstream.requests[0]?.body.toString()).not.toContain('recall_conversation')
})
