import { expect, test } from 'vitest'
import { ollamaChat } from '../../../src/formats/ollama/ollama.ts'
import { repairCalls } from '../../../src/formats/repair.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { dialectContract, sampleAnswer, sampleEntry, sampleStream } from '../../contracts/dialect-contract.ts'
import { factsOfBody, readBody } from '../../support/read-body.ts'
import { sourceOf } from '../../support/source.ts'
import { png } from '../../support/images.ts'
import { plainAnswer, streamOf } from './reply/streamed.ts'

const call =
  '{"role":"assistant","content":"", "tool_calls":[{"id":"call_9","function":{"index":0,"name":"look","arguments":{"x":1e400, "y" : "\\u0065"}}}]}'
const result = '{"tool_name":"look","cost":1e400,"role":"tool","content":"s\\u0065en"}'
const user = '{"role":"user","content":"please"}'
const list = [{ type: 'function', function: { name: 'look', parameters: {} } }]
const counts = { prompt_eval_count: 90, eval_count: 7 }
const counted = { promptTokens: 90, completionTokens: 7, cachedTokens: null, cacheWrittenTokens: null }

dialectContract({
  dialect: ollamaChat,
  body: (entries, fields = {}) =>
    `{ ${JSON.stringify({ stream: false, ...fields }).slice(1, -1)}, "messages" : [ ${entries.join(' ,\n')} ] , "keep_alive":"ä" }`,
  conversation: [
    sampleEntry('system', 'be brief', '{"role":"system","content":"be brief"}'),
    sampleEntry('user', 'read it', '{ "role" : "user", "content":"read it", "images": null }'),
    sampleEntry('assistant', '', call, { calls: [''] }),
    sampleEntry('tool', 'seen', result, { answers: [''] }),
    sampleEntry('assistant', 'done', '{"role":"assistant","content":"done","thinking":"hm"}'),
    sampleEntry('user', 'please', user),
  ],
  slots: [
    { entry: result, slots: [{ kind: 'result', text: 'seen' }] },
    {
      entry: `${call.slice(0, -1).replace('"content":""', '"content":"I look."')},"thinking":"hm","n":1.0}`,
      slots: [
        { kind: 'text', text: 'I look.' },
        { kind: 'thought', text: 'hm' },
        { kind: 'arguments', text: '{"x":null,"y":"e"}' },
      ],
    },
    { entry: '{"role":"user","content":"ä","im\\u0061ges":[]}', slots: [{ kind: 'text', text: 'ä' }] },
  ],
  broken: [
    { entries: [user, call, user], rule: 'call-unanswered' },
    { entries: [user, result], rule: 'result-orphaned' },
  ],
  streamed: { stream: true },
  limited: { options: { num_ctx: 4096, num_predict: 77 } },
  tools: { fields: { tools: list }, list, names: ['look'] },
  answers: [
    sampleAnswer('a text', plainAnswer({ content: 'hi' }, 'stop', counts), 'end', { usage: counted }),
    sampleAnswer('cut', plainAnswer({ content: 'hi' }, 'length'), 'length'),
    sampleAnswer(
      'a call',
      plainAnswer({ content: '', tool_calls: [{ function: { name: 'look', arguments: {} } }] }, 'stop'),
      'end',
    ),
    sampleAnswer('thoughts', plainAnswer({ content: '', thinking: 'hm' }, 'stop'), 'end'),
    sampleAnswer('a model that was loaded', plainAnswer({ content: '' }, 'load'), 'other', {
      hasOutput: false,
    }),
    sampleAnswer('an error', { error: 'model "x" not found' }, null, { hasOutput: false, isError: true }),
  ],
  streams: [
    sampleStream(
      'a text with its counts',
      1,
      'end',
      streamOf([{ content: '' }, { content: 'hé 😀' }], counts),
      {
        usage: counted,
      },
    ),
    sampleStream(
      'a call',
      0,
      'end',
      streamOf([{ tool_calls: [{ function: { name: 'look', arguments: {} } }] }]),
    ),
    sampleStream(
      'an error before any output',
      2,
      null,
      [
        ...streamOf([{ content: '' }]).slice(0, 1),
        '{"error":"the input length exceeds the context length"}\n',
      ],
      { hasOutput: false, isError: true },
    ),
  ],
  text: 'hi there',
  plainText: plainAnswer({ content: 'hi there' }, 'stop'),
  streamedText: streamOf([{ content: 'hi' }, { content: ' there' }]),
  usage: null,
})

const bodyOf = (fields: object) =>
  sourceOf(JSON.stringify({ model: 'm', messages: [{ role: 'user' }], ...fields }))

test('a request that does not say so gets a stream, as the server has it', () => {
  expect(factsOfBody(ollamaChat, bodyOf({})).isStreamed).toBe(true)
  expect(factsOfBody(ollamaChat, bodyOf({ stream: null })).isStreamed).toBe(true)
  expect(factsOfBody(ollamaChat, bodyOf({ stream: false })).isStreamed).toBe(false)
})

test('the window and the limit of the reply stand among the options', () => {
  const { windowTokens, outputLimit } = factsOfBody(
    ollamaChat,
    bodyOf({ options: { num_predict: 300, num_ctx: 4096 } }),
  )
  expect([windowTokens, outputLimit?.tokens]).toEqual([4096, 300])
  // The server takes -1 for a reply without a limit, and -2 for one that fills the window.
  expect(factsOfBody(ollamaChat, bodyOf({ options: { num_predict: -2 } })).outputLimit).toBeNull()
})

// Clients that reckon the window out of the text's length write fractions, which the server cuts off; taken for no window at
// all, the request was measured by a guess of 128,000.
test.each([
  [8192.7, 8192],
  [0.5, null],
  ['8192', null],
])('a num_ctx of %j is a window of %j', (numCtx, windowTokens) => {
  expect(factsOfBody(ollamaChat, bodyOf({ options: { num_ctx: numCtx } })).windowTokens).toBe(windowTokens)
})

// The server makes roles lower case. A call of an `Assistant` was not seen: it was not counted, and its result answered nothing.
test('a role in capitals is that role', () => {
  const written = [call, result].map((text) => {
    const message = JSON.parse(text)
    return { ...message, role: message.role.toUpperCase() }
  })
  const { source, messages } = readBody(ollamaChat, JSON.stringify({ messages: written }))
  expect(messages.map(({ facts }) => facts.role)).toEqual(['assistant', 'tool'])
  expect(messages.map(({ facts }) => facts.callNames)).toEqual(
    readBody(ollamaChat, `{"messages":[${call},${result}]}`).messages.map(({ facts }) => facts.callNames),
  )
  expect(runAtOnce(repairCalls(source, messages, ollamaChat.rules))).toBeNull()
})

test('who says what becomes of a long prompt is not contradicted', () => {
  expect(factsOfBody(ollamaChat, bodyOf({})).errorsRequest?.text).toBe(',"truncate":false,"shift":false')
  expect(factsOfBody(ollamaChat, bodyOf({ truncate: true })).errorsRequest).toBeNull()
  expect(factsOfBody(ollamaChat, bodyOf({ shift: true })).errorsRequest).toBeNull()
})

// npm's `ollama` sends back the calls as they came, with ids, and results that name only their tool.
test('a result without an id answers a call that has one', () => {
  const { source, messages } = readBody(
    ollamaChat,
    JSON.stringify({ messages: [user, call, result].map((text) => JSON.parse(text)) }),
  )
  expect(runAtOnce(repairCalls(source, messages, ollamaChat.rules))).toBeNull()
})

test('pictures are read with their sizes, and go with a mark in their place', () => {
  const [first, second] = [png(640, 480), png(32, 16)].map((picture) => picture.toString('base64'))
  const entry = JSON.stringify({ role: 'user', content: 'What is this?', images: [first, second] })
  const { source, messages } = readBody(ollamaChat, `{"messages":[${entry}]}`)
  const [message] = messages
  if (message === undefined) throw new Error('no message')
  expect(message.facts.media.map(({ kind, widthPixels }) => [kind, widthPixels])).toEqual([
    ['image', 640],
    ['image', 32],
  ])
  const one = runAtOnce(ollamaChat.entries.withoutMedia(source, message, 1, '[image]'))
  expect(JSON.parse(one?.json ?? '')).toEqual({
    role: 'user',
    content: '[image]\nWhat is this?',
    images: [second],
  })
  const none = runAtOnce(ollamaChat.entries.withoutMedia(source, message, 0, '[image]'))
  expect(JSON.parse(none?.json ?? '')).toEqual({ role: 'user', content: '[image]\nWhat is this?' })
  expect(none?.text).toBe('[image]\nWhat is this?')
  expect(runAtOnce(ollamaChat.entries.withoutMedia(source, message, 2, '[image]'))).toBeNull()
})

const images = (...all: readonly string[]) =>
  JSON.stringify({ role: 'user', content: all.join(), images: all })

test('users’ messages are joined with the pictures of all', () => {
  expect(JSON.parse(ollamaChat.entries.joined([images('a'), user, images('b', 'c')], 1) ?? '')).toEqual({
    role: 'user',
    content: 'a\n\nplease\n\nb,c',
    images: ['a', 'b', 'c'],
  })
})

test('a message that the server would not read is not guessed at', () => {
  for (const message of [
    { role: 'user', content: [{ type: 'text', text: 'a' }] },
    { role: 'user', images: ['a', 7] },
  ])
    expect(() => readBody(ollamaChat, JSON.stringify({ messages: [message] }))).toThrow('cannot be read')
})
