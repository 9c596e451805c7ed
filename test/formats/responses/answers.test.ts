import { describe, expect, test } from 'vitest'
import type { AnswerFacts } from '../../../src/formats/answer-contract.ts'
import { createEventReader } from '../../../src/formats/event-reader.ts'
import { responsesAnswers } from '../../../src/formats/responses/responses.ts'
import { classifyAnswer } from '../../../src/overflow/classify.ts'
import { watchStream } from '../../../src/overflow/answer-watch.ts'
import { createTailObserver } from '../../../src/overflow/tail-observer.ts'
import { eventOf } from '../joined.ts'
import { callOf, message, numbered, responseOf, search, streamOf, thought } from './reply/streamed.ts'

const { read } = responsesAnswers
const nothingKnown = { knownWindowTokens: null }
const tooLong = {
  code: 'context_length_exceeded',
  message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
}

function eventsOf(events: readonly { readonly text: string }[]) {
  const reader = createEventReader({ eventCharactersMax: 1 << 20 })
  return [...reader.feed(events.map(({ text }) => text).join('')), ...reader.end()]
}

/** What the events of one stream say, each. */
const factsOf = (events: readonly { readonly text: string }[]): (AnswerFacts | string)[] =>
  eventsOf(events)
    .map(responsesAnswers.openStream())
    .map((said) => (said.kind === 'facts' ? said.facts : said.kind))

const silentEvents = (events: readonly { readonly text: string }[]): number =>
  factsOf(events).findIndex((facts) => typeof facts === 'object' && facts.hasOutput)

const added = (item: object) => ({ type: 'response.output_item.added', output_index: 0, item })

const spoken = (kind: string, delta: string) => ({ type: `response.${kind}.delta`, delta })

const telling = (event: object): boolean[] =>
  eventsOf([{ text: `data: ${JSON.stringify(event)}\n\n` }]).map(responsesAnswers.isTelling)

describe('reasoning that was left out of the prompt', () => {
  const removed = { type: 'reasoning', action: 'removed' }
  const stated = {
    input_transformations: [
      { ...removed, id: 'rs_1', reason: 'prefix_mismatch' },
      { ...removed, id: 'x'.repeat(100_000), reason: 'prefix_mismatch' },
      { ...removed, id: { not: 'an id' }, reason: 'model_mismatch' },
      { ...removed, reason: 'organization_mismatch' },
      { ...removed, reason: 'end_user_mismatch' },
      { ...removed, reason: 'turn_boundary' },
      { ...removed, reason: 'constructor' },
      { ...removed, reason: { prefix_mismatch: 1 } },
      { ...removed, action: 'shortened', reason: 'prefix_mismatch' },
      { type: 'image', action: 'removed', reason: 'prefix_mismatch' },
      null,
      7,
      [removed],
    ],
  }
  const counts = { prefix: 2, model: 1, organization: 1, 'end-user': 1, turn: 1, other: 2 }

  test('is counted by its reason; what is no such thing is not, whatever its ids are', () => {
    expect(read({ ...responseOf([message('x')]), ...stated })?.removedThoughts).toEqual(counts)
  })

  test('of a stream its last event tells', () => {
    const observer = createTailObserver('stream', responsesAnswers)
    for (const { text } of streamOf([message('x')], { more: stated })) observer.feed(text)
    expect(observer.end().removedThoughts).toEqual(counts)
  })

  test.each([undefined, null, 'none', 3, { length: 2 }, true])('nothing is known from %j', (value) => {
    expect(read({ ...responseOf([]), input_transformations: value })?.removedThoughts).toBe(null)
  })

  test('a list without end costs what it takes to read it', () => {
    const many = Array.from({ length: 200_000 }, () => ({ ...removed, reason: 'prefix_mismatch' }))
    const { removedThoughts } = read({ ...responseOf([]), input_transformations: many }) ?? {}
    expect(removedThoughts).toEqual({ prefix: 200_000 })
  })
})

const usageOf = (usage: object) => read(responseOf([], { usage }))?.usage

describe('a plain response', () => {
  const custom = { type: 'custom_tool_call', call_id: 'c', name: 'p', input: '' }
  const readable = { ...thought(), summary: [{ type: 'summary_text', text: 'Hm' }] }
  const refusal = message('', 'm', { content: [{ type: 'refusal', refusal: 'No' }] })
  const filled = { reason: 'model_context_window_exceeded' }
  // vLLM calls it completed in the name of its event, and others in the status, too.
  const calledComplete = { status: 'completed', reason: 'max_output_tokens' }
  test.each<[string, Parameters<typeof responseOf>[0], object, boolean, string | null]>([
    ['a text', [thought(), message('x')], {}, true, 'end'],
    ['a call of the client’s', [thought(), callOf('bash')], {}, true, 'calls'],
    ['a call with free text', [custom], {}, true, 'calls'],
    ['what the server did itself', [search()], {}, true, 'end'],
    ['a text that was cut', [message('x')], { reason: 'max_output_tokens' }, true, 'length'],
    ['a text that was filtered', [message('x')], { reason: 'content_filter' }, true, 'filtered'],
    ['a full window', [message('x')], filled, true, 'window'],
    ['another reason', [message('x')], { reason: 'steered' }, true, 'other'],
    ['one that is called complete', [message('x')], calledComplete, true, 'length'],
    ['one that was cancelled', [], { status: 'cancelled' }, false, 'other'],
    ['one that is being made', [], { status: 'queued' }, false, null],
    ['secret thoughts', [thought()], {}, false, 'end'],
    ['thoughts to read', [readable], {}, true, 'end'],
    ['an empty message', [message('')], {}, false, 'end'],
    ['a refusal', [refusal], {}, true, 'end'],
  ])('%s', (_, items, about, hasOutput, finish) => {
    expect(read(responseOf(items, about))).toMatchObject({ hasOutput, finish, isError: false, said: null })
  })

  // A gateway wrote a chat's "stop" there: a response that had failed was then read as a good one, and one with calls as
  // one that had said all.
  test('ended as its status and its calls say, where the reason is of no cut', () => {
    for (const reason of ['stop', 'end_turn', 'tool_calls', 'error']) {
      expect(read(responseOf([message('x')], { status: 'failed', reason }))).toMatchObject({
        finish: 'error',
        isError: true,
      })
      const complete = { status: 'completed', reason }
      expect(read(responseOf([callOf('bash')], complete))).toMatchObject({ finish: 'calls', isError: false })
      expect(read(responseOf([message('x')], { reason }))).toMatchObject({ finish: 'other', isError: false })
    }
  })

  test('may be one without a status, or a compaction', () => {
    const output = [message('x')]
    expect(read({ object: 'response', output })).toMatchObject({ hasOutput: true, finish: null })
    const compaction = {
      object: 'response.compaction',
      output: [{ type: 'compaction', encrypted_content: 'x' }],
    }
    expect(read(compaction)).toMatchObject({ hasOutput: true, finish: 'end', isError: false, said: null })
  })

  const counted = { completionTokens: null, cachedTokens: null, cacheWrittenTokens: null }

  // SGLang's: windows and counts were not learnt from any plain answer of it.
  test('may state its usage under the names of chat completions', () => {
    const cached = { prompt_tokens_details: { cached_tokens: 4 }, reasoning_tokens: 1 }
    expect(usageOf({ prompt_tokens: 9, completion_tokens: 2, total_tokens: 11, ...cached })).toEqual({
      ...counted,
      promptTokens: 9,
      completionTokens: 2,
      cachedTokens: 4,
    })
  })

  test('states its usage, of which what was cached, or newly is, is a part', () => {
    const details = { input_tokens_details: { cached_tokens: 4000, cache_write_tokens: 100 } }
    expect(usageOf({ input_tokens: 5000, ...details, output_tokens: 30, total_tokens: 5030 })).toEqual({
      promptTokens: 5000,
      completionTokens: 30,
      cachedTokens: 4000,
      cacheWrittenTokens: 100,
    })
    expect(usageOf({ input_tokens: 7 })).toEqual({ ...counted, promptTokens: 7 })
    expect(usageOf({ output_tokens: 7 })).toBeNull()
    expect(read(responseOf([]))?.model).toBe('m')
  })
})

describe('an error', () => {
  test.each([
    ['OpenAI’s', { error: { ...tooLong, type: 'invalid_request_error', param: 'input' } }],
    ['vLLM’s', { object: 'error', message: tooLong.message, type: 'BadRequestError', code: 400 }],
    ['a detail', { detail: tooLong.message }],
    ['a list', [{ error: tooLong }]],
    ['a failed response', responseOf([], { status: 'failed', more: { error: tooLong } })],
    // OpenRouter's names for errors are few; its own word stands beside.
    [
      'OpenRouter’s',
      responseOf([], {
        status: 'failed',
        more: { error: { code: 'invalid_prompt', message: 'Bad.' }, error_type: 'context_length_exceeded' },
      }),
    ],
  ])('is one, and an overflow: %s', (_, body) => {
    expect(read(body)).toMatchObject({ hasOutput: false, isError: true })
    const answer = { status: 200, contentType: 'application/json', body: JSON.stringify(body) }
    expect(classifyAnswer(answer, responsesAnswers).class).toBe('overflow')
    expect(classifyAnswer({ ...answer, status: 400 }, responsesAnswers).class).toBe('overflow')
  })

  test('says nothing of the reply, nor of what the client gave', () => {
    const more = {
      error: { code: 'server_error', message: 'Sorry.' },
      instructions: 'prompt is too long',
      metadata: { message: tooLong.message, code: tooLong.code },
    }
    const body = responseOf([message(tooLong.message)], { status: 'failed', more })
    expect(read(body)?.said).toEqual({ error: more.error })
    const answer = { status: 200, contentType: 'application/json', body: JSON.stringify(body) }
    expect(classifyAnswer(answer, responsesAnswers).class).toBe('other')
  })
})

const itemOf = (item: object) => ({ type: 'response.output_item.done', item })

describe('a stream', () => {
  const created = { type: 'response.created', response: responseOf([], { status: 'in_progress' }) }
  const begun = { ...created, type: 'response.in_progress' }
  const queued = { ...created, type: 'response.queued' }
  const keepalive = { type: 'keepalive' }
  const itemDone = { type: 'response.output_item.done', item: thought() }
  const emptyPart = { type: 'response.reasoning_part.added', part: { text: '' } }

  test.each([
    ['a message', [created, queued, begun, keepalive, added(message(''))], 4],
    ['a call', [created, begun, added(callOf('bash', ''))], 2],
    ['a message behind secret thoughts', [created, added(thought()), itemDone, added(message(''))], 3],
    ['thoughts to read', [created, added(thought()), spoken('reasoning_summary_text', 'Hm')], 2],
    ['thoughts that are text', [created, added(thought()), emptyPart, spoken('reasoning_text', 'Hm')], 3],
    ['a text nobody announced', [created, spoken('output_text', ''), spoken('output_text', 'x')], 2],
    ['an end alone', [created, { type: 'response.completed', response: responseOf([message('x')]) }], 1],
  ])('has its first output with %s', (_, events, silent) => {
    const all = numbered(events)
    const without = (part: RegExp) => all.map(({ text }) => ({ text: text.replace(part, '') }))
    for (const spelt of [all, without(/^event: .*\n/), without(/"type":"(?:response|keepalive)[^"]*",/)])
      expect(silentEvents(spelt)).toBe(silent)
  })

  test('ends as its last event says, whatever that leaves out', () => {
    const { output: _output, status: _status, ...bare } = responseOf([])
    const end = { type: 'response.completed', response: bare }
    for (const [events, finish] of [
      [[created, added(callOf('bash', '')), end], 'calls'],
      [[created, itemOf(callOf('bash')), end], 'calls'],
      [[created, added(message('')), end], 'end'],
      [[{ ...end, type: 'response.incomplete' }], 'other'],
    ] as const)
      expect(factsOf(numbered(events)).at(-1)).toMatchObject({ finish })
    expect(factsOf([{ text: 'data: [DONE]\n\n' }, { text: 'data: \n\n' }, { text: 'data: x\n\n' }])).toEqual([
      'done',
      'empty',
      'unknown',
    ])
  })

  const failed = {
    type: 'response.failed',
    response: responseOf([], { status: 'failed', more: { error: tooLong } }),
  }
  const { status: _status, ...silent } = failed.response
  test.each([
    ['response.failed', [created, failed]],
    ['response.failed without a status', [created, { ...failed, response: silent }]],
    ['an error with a body', [created, { type: 'error', error: tooLong }]],
    ['an error that is one', [created, { type: 'error', ...tooLong, param: 'input' }]],
    ['both', [created, begun, { type: 'error', error: tooLong }, failed]],
    [
      'OpenRouter’s',
      [
        created,
        {
          type: 'response.failed',
          error_type: 'context_length_exceeded',
          response: { ...failed.response, error: { code: 'invalid_prompt', message: 'Bad.' } },
        },
      ],
    ],
  ])('an overflow is seen before anything of it goes on: %s', (_, events) => {
    const whole = numbered(events)
      .map(({ text }) => text)
      .join('')
    for (const text of [whole, whole.replaceAll(/^event: .*\n/gm, '')]) {
      expect(watchStream(responsesAnswers, nothingKnown).feed(text)).toMatchObject({ state: 'overflow' })
      const answer = { status: 200, contentType: 'text/event-stream', body: text }
      expect(classifyAnswer(answer, responsesAnswers).class).toBe('overflow')
    }
  })

  test.each([
    'event: error\ndata: {"message":"Your input exceeds the context window of this model."}\n\n',
    'data: {"error":{"code":"context_length_exceeded","message":"too long"}}\n\n',
    'data: {"detail":"Your input exceeds the context window of this model."}\n\n',
  ])('and so is a bare one: %s', (text) => {
    expect(watchStream(responsesAnswers, nothingKnown).feed(text)).toMatchObject({ state: 'overflow' })
  })

  test('a window that was full before anything was said is an overflow', () => {
    const full = responseOf([], { reason: 'model_context_window_exceeded' })
    const events = numbered([created, begun, { type: 'response.incomplete', response: full }])
    const watch = watchStream(responsesAnswers, nothingKnown)
    expect(watch.feed(events.map(({ text }) => text).join(''))).toMatchObject({ state: 'overflow' })
    const answer = { status: 200, contentType: 'application/json', body: JSON.stringify(full) }
    expect(classifyAnswer(answer, responsesAnswers).class).toBe('overflow')
  })

  test('one that ends with nothing is empty', () => {
    const events = numbered([created, begun, { type: 'response.completed', response: responseOf([]) }])
    const watch = watchStream(responsesAnswers, nothingKnown)
    for (const { text } of events) watch.feed(text)
    expect(watch.end()).toEqual({ state: 'empty' })
  })

  test('pieces of the output are not looked into, wherever their type stands', () => {
    const delta = '{"type":"response.completed"} "error": {'
    expect(telling({ type: 'response.output_text.delta', delta })).toEqual([false])
    expect(telling({ delta, type: 'response.output_text.delta' })).toEqual([false])
    expect(telling({ type: 'response.reasoning_part.added', part: {} })).toEqual([false])
    expect(telling({ type: 'response.output_item.done', item: callOf('bash') })).toEqual([true])
    expect(telling({ response: responseOf([]), type: 'response.completed' })).toEqual([true])
    expect(telling({ error: { message: 'x' } })).toEqual([true])
    expect(telling({ type: 'error', message: 'x' })).toEqual([true])
  })

  test('an end with all of the output is read, and so is a beginning with all of the request', () => {
    const long = 'x'.repeat(3 << 20)
    const observer = createTailObserver('stream', responsesAnswers)
    const usage = { input_tokens: 9, output_tokens: 2 }
    for (const { text } of streamOf([message(long)], { usage }, long.length)) observer.feed(text)
    expect(observer.end().usage?.promptTokens).toBe(9)
    const watch = watchStream(responsesAnswers, nothingKnown)
    const repeated = { ...created, response: { ...created.response, instructions: long } }
    expect(watch.feed(eventOf(repeated).text)).toEqual({ state: 'undecided' })
    expect(watch.feed(eventOf(failed).text)).toMatchObject({ state: 'overflow' })
  })
})
