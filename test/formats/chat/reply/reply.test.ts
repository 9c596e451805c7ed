import { describe, expect, test } from 'vitest'
import { chatCompletions } from '../../../../src/formats/chat/chat.ts'
import type { CallRules, StreamEvent } from '../../../../src/formats/answer-contract.ts'
import { asStream } from '../../../../src/formats/typed-events.ts'
import { joiningOf } from '../../joined.ts'
import { eventsOf, readAsClient, type Said } from './streamed.ts'

const rules = { toolName: 'recall_conversation', continues: false }
const role = { role: 'assistant', content: '' }

function callOf(index: number, name: string, argumentsText = '{}', id = `call_${index}`): object {
  return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: argumentsText } }] }
}

function grown(index: number, argumentsText: string): object {
  return { tool_calls: [{ index, function: { arguments: argumentsText } }] }
}

function inPieces(rest: string) {
  return eventsOf(
    [
      role,
      callOf(0, 'recall', ''),
      { tool_calls: [{ index: 0, function: { name: rest, arguments: '{}' } }] },
    ],
    { reason: 'tool_calls' },
  )
}

const cumulative = (text: string, tokens: number) =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: text }, finish_reason: null }], usage: { prompt_tokens: tokens } })}\n\n`

const { joinedStreams, joinedBodies } = joiningOf(chatCompletions.replies)

/** What the client gets of these answers, each going on from the one before. */
function joined(answers: readonly (readonly StreamEvent[])[], options: CallRules = rules) {
  const { out, replies } = joinedStreams(answers, options)
  return { out, replies, client: readAsClient(out) }
}

describe('an answer that calls no tool of ours', () => {
  const answers: readonly (readonly [string, readonly Said[], object])[] = [
    ['text', [role, { content: 'Hel' }, { content: 'lo' }], {}],
    ['thoughts', [role, { reasoning_content: 'Hm.' }, { content: 'Yes' }], { usage: { prompt_tokens: 1 } }],
    [
      'calls',
      [role, callOf(0, 'bash', '{"a'), grown(0, '":1}'), callOf(1, 'read')],
      { reason: 'tool_calls' },
    ],
    // Nobody saw a name in it, and all of it waited for the end.
    [
      'calls with free text',
      [
        role,
        { tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'patch', input: '' } }] },
        { tool_calls: [{ index: 0, custom: { input: '*** Begin' } }] },
      ],
      { reason: 'tool_calls' },
    ],
    ['comments', [': keep-alive\n\n', role, { content: 'x' }, ': more\n\n'], {}],
    ['an answer that was cut', [role, { content: 'Hel' }], { reason: 'length' }],
    ['no reason at its end', [role, { content: 'Hel' }], { reason: null }],
  ]
  test.each(answers)('passes event by event, as it came: %s', (_, deltas, end) => {
    const stream = chatCompletions.replies.join<StreamEvent>(rules)
    for (const event of eventsOf(deltas, end)) expect(stream.take(event)).toEqual([event])
    expect(stream.ended().shown).toEqual([])
    expect(stream.finish()).toEqual([])
  })

  test('what has several choices, or an error, is not understood and passes', () => {
    const several = eventsOf([
      `data: {"choices":[{"index":1,"delta":{"content":"x"}}]}\n\n`,
      { content: 'y' },
    ])
    expect(joined([several]).out).toEqual(several)
    const failing = eventsOf([role, 'data: {"error":{"message":"gone"}}\n\n'])
    const { out, replies } = joined([failing])
    expect(out).toEqual(failing)
    expect(replies).toEqual([null])
  })
})

describe('a call of our tool', () => {
  const asking = eventsOf(
    [
      role,
      { content: 'Let me ' },
      { content: 'look.' },
      callOf(0, 'recall_conversation', '{"sea'),
      grown(0, 'rch":"x"}'),
    ],
    { reason: 'tool_calls', usage: { prompt_tokens: 10, completion_tokens: 2, details: { cached: 8 } } },
  )
  const answering = eventsOf([role, { content: 'It is ' }, { content: '42.' }], {
    id: 'chatcmpl-other',
    usage: { prompt_tokens: 20, completion_tokens: 3, details: { cached: 16 } },
  })

  test('is read whole, with what was said before it and with its thoughts', () => {
    const thinking = eventsOf(
      [
        role,
        { reasoning_content: 'I ' },
        { reasoning_content: 'look.' },
        callOf(0, 'recall_conversation', '{"a":'),
        grown(0, '1}'),
      ],
      { reason: 'tool_calls' },
    )
    const [reply] = joined([thinking, answering]).replies
    expect(reply?.kept).toEqual({ reasoning_content: 'I look.' })
    expect(reply?.calls).toMatchObject([
      { id: 'call_0', name: 'recall_conversation', argumentsText: '{"a":1}' },
    ])
  })

  // DashScope repeats id and name as empty texts, and the call went back to it under an id of ours.
  test('keeps its id where later deltas state an empty one', () => {
    const empty = { tool_calls: [{ index: 0, id: '', function: { name: '', arguments: '"x"}' } }] }
    const deltas = [role, callOf(0, 'recall_conversation', '{"search":', 'call_7'), empty]
    const [reply] = joined([eventsOf(deltas, { reason: 'tool_calls' })]).replies
    expect(reply?.calls).toMatchObject([{ id: 'call_7', argumentsText: '{"search":"x"}' }])
  })

  test('a name that comes in pieces is waited for', () => {
    expect(joined([inPieces('_conversation')]).client.calls).toEqual([])
    expect(joined([inPieces('_mail')]).client.calls).toMatchObject([{ name: 'recall_mail', arguments: '{}' }])
  })

  test('servers that give every call the same index are understood', () => {
    const same = eventsOf([role, callOf(0, 'bash', '{}', 'a'), callOf(0, 'recall_conversation', '{}', 'b')], {
      reason: 'tool_calls',
    })
    expect(joined([same]).client.calls).toEqual([{ id: 'a', name: 'bash', arguments: '{}' }])
  })

  // It could have become ours, and all of it waited for the end.
  test('is told from one of the client with the beginning of its name, once that has arguments', () => {
    const stream = chatCompletions.replies.join<StreamEvent>(rules)
    const [, , , ...late] = eventsOf([
      callOf(0, 'recall', ''),
      grown(0, '{"a'),
      grown(0, '":'),
      grown(0, '1}'),
    ])
    const early = eventsOf([callOf(0, 'recall', ''), grown(0, '{"a')], { reason: null }).slice(0, 2)
    expect(early.map((event) => stream.take(event).length)).toEqual([0, 2])
    for (const event of late) expect(stream.take(event)).toEqual([event])
  })

  // Gemini's calls all have the index 0 and no id: the client's was taken for the rest of ours, and the reply was empty.
  test.each([{}, { index: 0 }])('servers that give no call an id are understood: %j', (place) => {
    const whole = (name: string, text: string) => ({
      ...place,
      id: '',
      function: { name, arguments: text },
    })
    const calls = [
      whole('recall_conversation', '{"search":"x"}'),
      whole('bash', '{}'),
      whole('bash', '{"b":1}'),
    ]
    const { replies } = joined([eventsOf([{ ...role, tool_calls: calls }], { reason: 'tool_calls' })])
    expect(replies[0]?.calls.map(({ name, argumentsText }) => [name, argumentsText])).toEqual([
      ['recall_conversation', '{"search":"x"}'],
      ['bash', '{}'],
      ['bash', '{"b":1}'],
    ])
  })

  // Its name was added up to one that nobody has, and the reply ended in calls of which the client got none.
  test('a name that every delta repeats is that name', () => {
    const deltas = ['', '{"search"', ':"x"}', ''].map((text) =>
      callOf(0, 'recall_conversation', text, 'call_7'),
    )
    const [reply] = joined([eventsOf(deltas, { reason: 'tool_calls' })]).replies
    expect(reply?.calls).toMatchObject([
      { id: 'call_7', name: 'recall_conversation', argumentsText: '{"search":"x"}' },
    ])
  })

  // Servers that leave the reason out until there is one lost the usage that they repeat.
  test('and so it is where a chunk says nothing of a reason', () => {
    const said = { index: 0, delta: { content: 'a' } }
    const bare = `data: ${JSON.stringify({ id: 'x', choices: [said], usage: { prompt_tokens: 5 } })}\n\n`
    const { out } = joined([asking, eventsOf([bare], { reason: null })])
    expect(readAsClient(out.slice(-2)).usage).toMatchObject({ prompt_tokens: 15 })
  })

  test('usage that every chunk repeats is that of all answers', () => {
    const second = eventsOf([cumulative('a', 5), cumulative('b', 6)])
    expect(joined([asking, second]).client.usage).toEqual({
      prompt_tokens: 16,
      completion_tokens: 2,
      details: { cached: 8 },
    })
  })
})

describe('a reply that may be continued', () => {
  const continuing = { toolName: null, continues: true }

  // openai-python takes the first list of calls as it is: of three deltas of one call it made three calls.
  test('gives each delta of a further answer in a chunk of its own', () => {
    const calling = [callOf(0, 'write', '{"a"'), grown(0, ':1}')].map(
      (delta) => Object.entries(delta)[0]?.[1][0],
    )
    const cut = eventsOf([role, { content: 'I write.' }], { reason: 'length' })
    const { out, client } = joined([cut, eventsOf([{ ...role, tool_calls: calling }])], continuing)
    expect(client.calls).toMatchObject([{ name: 'write', arguments: '{"a":1}' }])
    expect(JSON.stringify(out)).not.toMatch(/"tool_calls[^\]]*},{/)
  })

  test('calls of a stream that ends without a reason are the client’s', () => {
    const calling = eventsOf([role, callOf(0, 'write', '{"a":1}')], { reason: null })
    expect(joined([calling], continuing).client.calls).toMatchObject([{ arguments: '{"a":1}' }])
  })

  test('one that is the only one stays as it was, where it is not asked for again', () => {
    const cut = eventsOf([role, callOf(0, 'write', '{"text":"abc')], { reason: 'length' })
    const { client } = joined([cut], continuing)
    expect(client.calls).toMatchObject([{ arguments: '{"text":"abc' }])
    expect(client.reasons).toEqual(['length'])
  })
})

const bothRules = { toolName: 'recall_conversation', continues: true }

function plainBody(message: object, more: { reason?: string; usage?: object; id?: string } = {}) {
  const { reason = 'stop', usage, id = 'chatcmpl-1' } = more
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }]
  return { id, object: 'chat.completion', created: 7, model: 'm', choices, ...(usage && { usage }) }
}

const callIn = (name: string, argumentsText = '{}', id = name) => ({
  id,
  type: 'function',
  function: { name, arguments: argumentsText },
})

/** With the probabilities of its tokens: it is one. */
function part(content: string, reason: string) {
  const logprobs = { content: [{ token: content }] }
  const message = { role: 'assistant', content }
  return { id: 'x', choices: [{ index: 0, message, logprobs, finish_reason: reason }] }
}

test('the client gets one answer: the text of both, the first id, the last reason, the usage of both', () => {
  const asking = plainBody(
    { content: 'Let me look.', reasoning_content: 'Hm. ', tool_calls: [callIn('recall_conversation')] },
    { reason: 'tool_calls', usage: { prompt_tokens: 10, total_tokens: 12, details: { cached: 1 } } },
  )
  const answering = plainBody(
    { content: 'It is 42.', reasoning_content: 'Ah.' },
    { id: 'other', usage: { prompt_tokens: 20, total_tokens: 25, details: { cached: 2 } } },
  )
  expect(joinedBodies([asking, answering], bothRules).body).toEqual(
    plainBody(
      { content: 'Let me look.\n\nIt is 42.', reasoning_content: 'Hm. Ah.' },
      { usage: { prompt_tokens: 30, total_tokens: 37, details: { cached: 3 } } },
    ),
  )
})

const forCalls = { reason: 'tool_calls' }
const callsOnly = (...calls: readonly object[]) => ({ content: null, tool_calls: calls })

test('content that was null stays null beside calls', () => {
  const asking = plainBody(callsOnly(callIn('recall_conversation')))
  const calling = plainBody(callsOnly(callIn('bash')), forCalls)
  expect(joinedBodies([asking, calling], bothRules).body).toEqual(calling)
})

test('a text that was cut is joined, and so are the probabilities of its tokens', () => {
  const result = joinedBodies([part('The wh', 'length'), part('ole.', 'stop')], bothRules)
  expect(result.body).toMatchObject({
    choices: [
      {
        message: { content: 'The whole.' },
        finish_reason: 'stop',
        logprobs: { content: [{ token: 'The wh' }, { token: 'ole.' }] },
      },
    ],
  })
})

const about = { id: 'chatcmpl-1', object: 'chat.completion', created: 7, model: 'm', system_fingerprint: 'f' }
const said = { role: 'assistant', content: 'Hello' }
const call = (id: string) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } })

function chunksOf(body: unknown): unknown[] {
  const events = (asStream(chatCompletions.answers, body)?.text ?? '')
    .split('\n\n')
    .filter((event) => event !== '')
  expect(events.pop()).toBe('data: [DONE]')
  return events.map((event): unknown => JSON.parse(event.slice('data: '.length)))
}

describe('a plain answer as a stream', () => {
  test('one chunk with the message, one with its end, each with what is said of the answer', () => {
    const chunk = { ...about, object: 'chat.completion.chunk' }
    const choices = [{ index: 0, message: said, finish_reason: 'stop', logprobs: null }]
    expect(chunksOf({ ...about, choices })).toEqual([
      { ...chunk, choices: [{ index: 0, delta: said, finish_reason: null, logprobs: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ])
  })

  test('thoughts and calls come as the server gave them, and the calls are numbered', () => {
    const message = {
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm',
      extra_content: { signature: 's' },
      tool_calls: [call('a'), call('b')],
    }
    const [first, last] = chunksOf({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })
    const numbered = ['a', 'b'].map((id, index) => ({ index, ...call(id) }))
    expect(first).toMatchObject({ choices: [{ delta: { ...message, tool_calls: numbered } }] })
    expect(last).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] })
  })

  test('several choices keep their numbers', () => {
    const choices = [0, 1].map((index) => ({ index, message: said, finish_reason: 'stop' }))
    expect(chunksOf({ choices })).toMatchObject([
      { choices: [{ index: 0, delta: said }] },
      { choices: [{ index: 1, delta: said }] },
      { choices: [{ index: 0, finish_reason: 'stop' }] },
      { choices: [{ index: 1, finish_reason: 'stop' }] },
    ])
  })

  test('the usage comes last, in an event of its own', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 1 }
    const body = { choices: [{ index: 0, message: said, finish_reason: 'stop' }], usage }
    expect(chunksOf(body).at(-1)).toEqual({ object: 'chat.completion.chunk', choices: [], usage })
    expect(asStream(chatCompletions.answers, body)?.statesUsage).toBe(true)
  })
})
