import { describe, expect, test } from 'vitest'
import type { ScriptedBlock } from '../../support/messages/script.ts'
import { contentOf, messageIn, openStand, post, readTool, roundsOf, troubleOf, user } from './stand.ts'

const tools = [readTool]

const recall: ScriptedBlock = {
  type: 'tool_use',
  id: 'toolu_recall',
  name: 'recall_conversation',
  input: { messages: '#3' },
}

/** Past a window of 4,000 by half. */
const messages = [user('Read every part.'), ...roundsOf(10)]

describe.each([
  ['plain', false],
  ['streamed', true],
])('what the model asks of Foldgate is answered within one message, %s', (_, stream) => {
  test('a call that reads back: the client sees it not, and thinking only that it can send back', async () => {
    const stand = await openStand({
      windowTokens: 4_000,
      profile: { recall: { enabled: true } },
      reply: ({ messages: sent }) => {
        const said = JSON.stringify(sent)
        if (said.includes('And then?')) return { content: [{ type: 'text', text: 'All is well.' }] }
        return said.includes('toolu_recall')
          ? {
              content: [
                { type: 'thinking', tokens: 30 },
                { type: 'text', text: 'It said fox.' },
                { type: 'tool_use', id: 'toolu_next', name: 'read', input: { part: 11 } },
              ],
            }
          : { content: [{ type: 'thinking', text: 'What did it say?' }, recall] }
      },
    })
    const answer = await post(stand, { messages, tools, stream })
    expect(answer.status).toBe(200)
    const content = contentOf(answer)
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'What did it say?' },
      { type: 'text', text: 'It said fox.' },
      { type: 'tool_use', id: 'toolu_next', input: { part: 11 } },
    ])
    expect(messageIn(answer)['stop_reason']).toBe('tool_use')
    expect(answer.text).not.toContain('recall')
    const [first, second, ...others] = stand.upstream.requests
    expect(others).toEqual([])
    // The model reads it beside its own thinking, in whole messages behind the others.
    expect(second?.rawMessages.slice(0, -2)).toEqual(first?.rawMessages)
    expect(second?.messages.at(-2)?.blocks.map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
    expect(second?.rawMessages.at(-1)).toContain('the quick brown fox')

    // The client goes on with what it got, and the server misses nothing of it.
    const result = { type: 'tool_result', tool_use_id: 'toolu_next', content: 'fox' }
    const next = [
      ...messages,
      { role: 'assistant', content },
      { role: 'user', content: [result] },
      user('And then?'),
    ]
    expect((await post(stand, { messages: next, tools, stream })).status).toBe(200)
    expect(troubleOf(stand)).toEqual([])
  })

  // Older models that think with a budget want a turn that calls tools to begin with thinking.
  test('a model that wants its thinking before open calls has it, in both requests and the next', async () => {
    const stand = await openStand({
      windowTokens: 4_000,
      binding: 'none',
      profile: { recall: { enabled: true } },
      reply: ({ messages: sent }) =>
        JSON.stringify(sent).includes('toolu_recall')
          ? { content: [{ type: 'tool_use', id: 'toolu_next', name: 'read', input: {} }] }
          : { content: [{ type: 'thinking', tokens: 30 }, recall] },
    })
    const thinking = { type: 'enabled', budget_tokens: 1_024 }
    const told = Array.from({ length: 10 }, (_each, part) => [
      user(`part ${part}: ${'the quick brown fox jumps over the dog '.repeat(75)}`),
      { role: 'assistant', content: `I have part ${part}.` },
    ])
    const asked = [...told.flat(), user('What did it say?')]
    const content = contentOf(
      await post(stand, { messages: asked, tools, stream, thinking, max_tokens: 2_000 }),
    )
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
    const result = { type: 'tool_result', tool_use_id: 'toolu_next', content: 'fox' }
    const next = [...asked, { role: 'assistant', content }, { role: 'user', content: [result] }]
    expect((await post(stand, { messages: next, tools, stream, thinking, max_tokens: 2_000 })).status).toBe(
      200,
    )
    expect(troubleOf(stand)).toEqual([])
  })

  test('thinking that led to a reading back is left out where the history has to be shortened behind it', async () => {
    const long = 'a line of the report that is being written here '.repeat(60)
    const stand = await openStand({
      windowTokens: 4_000,
      profile: { recall: { enabled: true }, continuation: { max: 2 } },
      reply: ({ messages: sent }) => {
        const said = JSON.stringify(sent.slice(-2))
        if (said.includes('cut off')) return { content: [{ type: 'text', text: 'That is all.' }] }
        return said.includes('toolu_recall')
          ? {
              content: [
                { type: 'thinking', tokens: 20 },
                { type: 'text', text: long },
              ],
              stopReason: 'max_tokens',
            }
          : { content: [{ type: 'thinking', tokens: 20 }, recall] }
      },
    })
    const answer = await post(stand, { messages, tools, stream })
    expect(JSON.stringify(contentOf(answer))).toContain('That is all.')
    const sent = stand.upstream.requests.map(({ messages: each }) => each.length)
    expect(sent).toHaveLength(3)
    expect(sent[2]).toBeLessThan(sent[1] ?? 0)
    expect(troubleOf(stand)).toEqual([])
  })

  test('thinking of a reply that was cut is not lost to a history that was shortened for the rest of it', async () => {
    const stand = await openStand({
      windowTokens: 4_000,
      profile: { window: { tokens: 4_000, output_reserve: 500 }, continuation: { max: 2 } },
      reply: ({ messages: sent }) => {
        const said = JSON.stringify(sent)
        if (JSON.stringify(sent.at(-1)).includes('cut off'))
          return { content: [{ type: 'text', text: 'That is all.' }] }
        return sent.length > 1 && !said.includes('That is all.')
          ? {
              content: [
                { type: 'thinking', tokens: 8 },
                { type: 'text', text: 'a line of it '.repeat(350) },
              ],
              stopReason: 'max_tokens',
            }
          : { content: [{ type: 'text', text: 'Done.' }] }
      },
    })
    const answer = await post(stand, { messages, tools, stream, max_tokens: 500 })
    const content = contentOf(answer)
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text'])
    expect(JSON.stringify(content)).toContain('That is all.')
    const next = [...messages, { role: 'assistant', content }, user('And then?')]
    expect((await post(stand, { messages: next, tools, stream, max_tokens: 500 })).status).toBe(200)
    expect(troubleOf(stand)).toEqual([])
  })

  // What was left was told by our count and a guess of the model's tokens, though the server had counted nearly all of the
  // prompt: it was compacted for the rest of a reply, and the next request found none of that.
  test('a prompt that the server has counted is not compacted for the rest of a reply that fits behind it', async () => {
    const stand = await openStand({
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
      const body = {
        messages: [user('Read every part.'), ...roundsOf(count)],
        tools,
        stream,
        max_tokens: 500,
      }
      expect((await post(stand, body)).status).toBe(200)
    }
    const [, cut, rest, ...others] = stand.upstream.requests
    expect(others).toEqual([])
    expect(rest?.rawMessages.slice(0, -2)).toEqual(cut?.rawMessages)
  })

  test('a reply that was cut goes on in the same block, and its usage is that of both', async () => {
    const stand = await openStand({
      windowTokens: 100_000,
      profile: { continuation: { max: 2 } },
      reply: ({ messages: sent }) =>
        JSON.stringify(sent.at(-1)).includes('cut off')
          ? { content: [{ type: 'text', text: ' the other ninety nine lines of it all.' }] }
          : {
              content: [{ type: 'text', text: 'Here is the first line of it all, and then come' }],
              stopReason: 'max_tokens',
            },
    })
    const answer = await post(stand, { messages: [user('Write it all.')], stream })
    expect(contentOf(answer)).toMatchObject([
      { text: 'Here is the first line of it all, and then come the other ninety nine lines of it all.' },
    ])
    const prompts = stand.upstream.requests.map(({ promptTokens }) => promptTokens)
    expect(messageIn(answer)).toMatchObject({
      stop_reason: 'end_turn',
      usage: { input_tokens: prompts.reduce((sum, tokens) => sum + tokens, 0) },
    })
    expect(prompts).toHaveLength(2)
  })

  test('a call that was cut is made again, and once', async () => {
    const stand = await openStand({
      windowTokens: 100_000,
      profile: { continuation: { max: 2 } },
      reply: ({ messages: sent }) =>
        JSON.stringify(sent.at(-1)).includes('cut off')
          ? { content: [{ type: 'tool_use', id: 'toolu_2', name: 'read', input: { part: 1 } }] }
          : {
              content: [
                { type: 'text', text: 'I read it.' },
                { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
              ],
              stopReason: 'max_tokens',
            },
    })
    const answer = await post(stand, { messages: [user('Read it.')], tools, stream })
    expect(contentOf(answer)).toMatchObject([{ text: 'I read it.' }, { id: 'toolu_2', input: { part: 1 } }])
    expect(troubleOf(stand)).toEqual([])
  })
})

test('a summary is asked of the same model in the same dialect, and stands in the place of what was folded', async () => {
  const stand = await openStand({
    windowTokens: 4_000,
    profile: { strategy: 'summarize', summary: { wait_ms: 10_000 } },
    reply: ({ body }) => {
      const text =
        body['stream'] === true
          ? 'I go on.'
          : '## Task\nRead every part.\n## State\nThe parts up to the newest were read, and each said that the quick brown fox jumps over the dog.'
      return {
        content: [
          { type: 'thinking', tokens: 20 },
          { type: 'text', text },
        ],
      }
    },
  })
  const conversation = [...messages]
  let summary = ''
  for (let turn = 0; turn < 12 && summary !== 'ready'; turn += 1) {
    const answer = await post(stand, { messages: conversation, tools, stream: true })
    expect(answer.status).toBe(200)
    summary = answer.headers.get('x-foldgate-summary') ?? ''
    conversation.push({ role: 'assistant', content: contentOf(answer) }, user(`Go on with part ${turn}.`))
    conversation.push(...roundsOf(1, 20 + turn))
    if (summary === 'pending') await new Promise((resolve) => setTimeout(resolve, 300))
  }
  expect(summary).toBe('ready')
  expect(troubleOf(stand)).toEqual([])
  expect(stand.upstream.requests.some(({ body }) => !body.includes('"stream":true'))).toBe(true)
  expect(stand.upstream.requests.at(-1)?.body.toString()).toContain('<conversation-summary>')
})

test('calls without results get some, and results without calls become text, where the profile says so', async () => {
  const stand = await openStand({
    windowTokens: 4_000,
    profile: { repair: true },
    reply: () => ({ content: [{ type: 'text', text: 'All is well.' }] }),
  })
  const [asked, answered] = roundsOf(1)
  const broken = [user('Begin.'), asked, user('Never mind.'), { role: 'assistant', content: 'So be it.' }]
  const answer = await post(stand, { messages: [...broken, answered, user('Go on.')], tools })
  expect(answer.status).toBe(200)
  expect(troubleOf(stand)).toEqual([])
  expect(stand.upstream.requests[0]?.body.toString()).toContain('the quick brown fox')
})
