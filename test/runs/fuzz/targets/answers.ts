import * as fc from 'fast-check'
import { anyOf, anyOr, damages, withSome, oneText, texts, upTo } from '../arbitrary.ts'
import { openStage } from '../stage.ts'
import { fuzzTarget, type FuzzTarget } from '../target.ts'
import { connectRaw, requestOf } from '../wire/raw-exchange.ts'
import type { RawAnswer } from '../wire/recording-upstream.ts'

// What answers consist of comes before the targets, which are made of it as this module is loaded.

/** An answer of an upstream. */
type OddAnswer = {
  readonly status: string
  readonly headers: readonly string[]
  readonly body: Buffer
  /** How its end is told; `cut`: a length is stated that does not come. */
  readonly framing: keyof typeof framings
}

const framings = {
  length: 'content-length',
  chunked: 'transfer-encoding: chunked',
  close: 'connection: close',
  cut: 'content-length',
  'bad chunks': 'transfer-encoding: chunked',
}

const oddValues = [null, '', 'a', [], {}, -1, 1e308, 2 ** 53, '\ud800', 'x'.repeat(100_000)]

const odd = anyOr(...oddValues, ...texts`length ¦ stop ¦ end_turn ¦ completed`)
const said = anyOf([5, fc.string({ unit: 'grapheme', maxLength: 12 })], odd)
const count = anyOf([4, fc.nat({ max: 5_000 })], odd)
const index = anyOf([5, fc.constantFrom(0, 1, 2)], fc.constantFrom(-1, 1e9), odd)
const mostly = (weight: number, arbitrary: fc.Arbitrary<unknown>) => anyOf([weight, arbitrary], odd)
const list = (most: number, one: fc.Arbitrary<unknown>) => mostly(8, upTo(most, one))

/** What a dialect answers, as streams of events and plainly: as it should be, of wrong types, in a wrong order. */
type AnswerTexts = { readonly streamed: fc.Arbitrary<string>; readonly plain: fc.Arbitrary<string> }

function plainOf(value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const others = ['', '{', 'null', '['.repeat(100_000), `"${'x'.repeat(1_500_000)}"`, '<html>busy</html>']
  return anyOf([8, value.map((each) => JSON.stringify(each))], fc.constantFrom(...others))
}

function streamOf(event: fc.Arbitrary<string>, more: readonly string[]): fc.Arbitrary<string> {
  const any = anyOf([6, event], fc.constantFrom(...oddEvents, ...more))
  return upTo(12, any).map((events) => events.join(''))
}

const oddEvents = texts`
  data: [DONE]\n\n ¦ : comment\n\n ¦ \n\n\n ¦ event: error\ndata: {"error":{"message":"a"}}\n\n ¦ data\n\n
  id: 1\nretry: 0\n\n ¦ data: \n\n ¦ data: {"\n\n ¦ data: x\r\r ¦ \ufeffdata: 1\n\n ¦ event: ping\ndata: {}\n\n
  data: ${'x'.repeat(300_000)}\n\n ¦ data: ${'['.repeat(50_000)}\n\n ¦ ${'data: 1\n'.repeat(2_000)}
  data: [${'{},'.repeat(200_000)}{}]\n\n
`

/** Events that say of what type they are, some of them by name, too. */
const typed = (name: fc.Arbitrary<string>, members: fc.Arbitrary<object>): fc.Arbitrary<string> =>
  fc.tuple(name, fc.boolean(), members).map(([type, isNamed, more]) => {
    const data = JSON.stringify({ type, ...more })
    return `${isNamed ? `event: ${type}\n` : ''}data: ${data}\n\n`
  })

function chatTexts(): AnswerTexts {
  const call = withSome({
    index: mostly(1, fc.constantFrom(0, 1, -1, 1e9)),
    id: said,
    type: said,
    function: withSome({
      name: anyOf(fc.constant('recall_conversation'), said),
      arguments: anyOf(fc.constant('{"query":"a"}'), said),
    }),
  })
  const message = withSome({
    role: said,
    content: said,
    reasoning_content: said,
    refusal: said,
    tool_calls: anyOf(odd, upTo(3, call)),
    function_call: odd,
  })
  const finish = fc.constantFrom(null, 'stop', 'length', 'tool_calls', 'content_filter')
  const details = withSome({ cached_tokens: count })
  const usage = withSome({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: details,
  })
  const overflow =
    "This model's maximum context length is 1000 tokens. However, your messages resulted in 5000 tokens."
  const error = withSome({
    message: anyOf(fc.constant(overflow), said),
    type: said,
    code: mostly(1, fc.constant('context_length_exceeded')),
  })
  const envelope = (kind: 'delta' | 'message') => {
    const choice = withSome({
      index: anyOf(fc.constant(0), count),
      [kind]: mostly(8, message),
      finish_reason: mostly(3, finish),
    })
    const choices = mostly(9, upTo(2, choice))
    const whole = withSome({
      id: said,
      object: said,
      created: count,
      model: said,
      choices,
      usage: mostly(1, usage),
    })
    return anyOf([8, whole], fc.record({ error: mostly(1, error) }), odd)
  }
  const delta = envelope('delta')
  const event = anyOf(
    [6, delta.map((value) => `data: ${JSON.stringify(value)}\n\n`)],
    delta.map((value) => `data:${JSON.stringify(value, null, 1).replaceAll('\n', '\ndata:')}\r\n\r\n`),
  )
  return { streamed: streamOf(event, ['data: {"choices":[\n\n']), plain: plainOf(envelope('message')) }
}

function responseTexts(): AnswerTexts {
  const part = withSome({
    type: mostly(1, oneText`output_text ¦ refusal`),
    text: said,
    refusal: said,
    annotations: odd,
  })
  const item = withSome({
    type: mostly(8, oneText`message ¦ reasoning ¦ function_call ¦ web_search_call`),
    id: mostly(5, oneText`a_1 ¦ a_2 ¦ a_3`),
    role: fc.constantFrom('assistant', null),
    status: said,
    content: anyOf([3, upTo(2, part)], said),
    call_id: said,
    name: mostly(1, oneText`recall_conversation ¦ f`),
    arguments: mostly(1, oneText`{"query":"a"} ¦ {"que ¦ {}`),
    summary: odd,
    encrypted_content: said,
  })
  const usage = withSome({
    input_tokens: mostly(1, count),
    output_tokens: fc.nat({ max: 99 }),
    total_tokens: odd,
  })
  const overflow = { code: 'context_length_exceeded', message: 'Your input exceeds the context window.' }
  const response = withSome({
    id: said,
    object: mostly(1, oneText`response ¦ response.compaction`),
    status: mostly(1, oneText`completed ¦ incomplete ¦ failed ¦ in_progress`),
    model: said,
    incomplete_details: mostly(1, fc.constantFrom(null, { reason: 'max_output_tokens' })),
    error: anyOf([3, fc.constant(null)], fc.constant(overflow), odd),
    output: list(4, mostly(8, item)),
    usage: mostly(1, usage),
    store: fc.boolean(),
    input_transformations: odd,
  })
  const name = oneText`
    created ¦ in_progress ¦ completed ¦ incomplete ¦ failed ¦ output_item.added ¦ output_item.done ¦ content_part.added
    content_part.done ¦ output_text.delta ¦ output_text.done ¦ refusal.delta ¦ function_call_arguments.delta
    function_call_arguments.done ¦ reasoning_summary_text.delta ¦ telepathy.delta
  `.map((each) => `response.${each}`)
  const members = withSome({
    sequence_number: index,
    output_index: index,
    content_index: index,
    item_id: mostly(5, oneText`a_1 ¦ a_2`),
    item: mostly(8, item),
    part,
    delta: said,
    text: said,
    arguments: said,
    response: mostly(9, response),
  })
  const overflown = 'event: error\ndata: {"error":{"code":"context_length_exceeded"}}\n\n'
  return { streamed: streamOf(typed(name, members), [overflown]), plain: plainOf(mostly(9, response)) }
}

function messageTexts(): AnswerTexts {
  const block = withSome({
    type: mostly(
      8,
      oneText`text ¦ thinking ¦ redacted_thinking ¦ tool_use ¦ server_tool_use ¦ compaction ¦ telepathy`,
    ),
    id: mostly(5, oneText`toolu_1 ¦ toolu_2`),
    text: said,
    thinking: said,
    signature: said,
    data: said,
    name: mostly(1, oneText`recall_conversation ¦ f`),
    input: mostly(1, fc.constantFrom({}, { search: 'a' })),
    citations: odd,
    content: odd,
  })
  const iteration = fc.record({ type: oneText`message ¦ compaction`, input_tokens: odd })
  const usage = withSome({
    input_tokens: mostly(1, count),
    cache_read_input_tokens: mostly(1, count),
    cache_creation_input_tokens: odd,
    output_tokens: fc.nat({ max: 99 }),
    iterations: mostly(1, upTo(3, iteration)),
  })
  const reasons = oneText`end_turn ¦ max_tokens ¦ tool_use ¦ refusal ¦ pause_turn ¦ model_context_window_exceeded`
  const reason = mostly(6, anyOf([6, reasons], fc.constant(null)))
  const overflow = {
    type: 'invalid_request_error',
    message: 'prompt is too long: 5000 tokens > 2000 maximum',
  }
  const message = withSome({
    id: said,
    type: mostly(1, oneText`message ¦ error`),
    role: fc.constantFrom('assistant', null),
    model: said,
    content: list(4, mostly(8, block)),
    stop_reason: reason,
    error: anyOf([3, fc.constant(null)], fc.constant(overflow), odd),
    usage: mostly(1, usage),
    input_transformations: odd,
    diagnostics: odd,
  })
  const name = oneText`
    message_start ¦ content_block_start ¦ content_block_delta ¦ content_block_stop ¦ message_delta ¦ message_stop ¦ ping
    telepathy_delta
  `
  const delta = withSome({
    type: oneText`
      text_delta ¦ thinking_delta ¦ signature_delta ¦ input_json_delta ¦ citations_delta ¦ compaction_delta
    `,
    text: said,
    thinking: said,
    signature: said,
    partial_json: anyOf(oneText`{"search": ¦ "a"} ¦ {}`, said),
    citation: odd,
    content: odd,
    stop_reason: reason,
    stop_sequence: odd,
  })
  const members = withSome({
    index,
    content_block: mostly(8, block),
    delta: mostly(8, delta),
    usage: mostly(1, usage),
    message: mostly(9, message),
  })
  const more = texts`
    event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n ¦ event: message_stop\ndata: {}\n\n
  `
  return { streamed: streamOf(typed(name, members), more), plain: plainOf(mostly(9, message)) }
}

/** Streams and plain answers: as they should be, damaged, huge, of wrong types, none at all. */
function oddAnswer({ streamed, plain }: AnswerTexts): fc.Arbitrary<OddAnswer> {
  const status = oneText`
    201 Created ¦ 204 No Content ¦ 304 Not Modified ¦ 400 Bad Request ¦ 401 Unauthorized ¦ 404 Not Found
    413 Too Large ¦ 422 Unprocessable ¦ 429 Too Many ¦ 500 Internal ¦ 503 Unavailable ¦ 599 \u00e9 ¦ 200
    099 What ¦ 999 What ¦ 206 Partial
  `
  const type = oneText`
    text/event-stream; charset=utf-8 ¦ TEXT/EVENT-STREAM ¦ application/json ¦ text/html ¦ application/problem+json
  `
  const more = oneText`
    retry-after: 1 ¦ content-encoding: gzip ¦ content-encoding: identity ¦ x-ratelimit-remaining-tokens: 1e999
    set-cookie: a=b
  `
  return fc
    .record({
      status: anyOf([8, fc.constant('200 OK')], status),
      type: anyOf([6, fc.constant(null)], type, fc.constant('')),
      more: upTo(2, more),
      said: anyOf(
        fc.tuple(fc.constant('text/event-stream'), streamed),
        fc.tuple(fc.constant('application/json'), plain),
      ),
      damage: damages(['\n\n', '\r', 'data: ', '{', '"', ','], { intact: 1, most: 3 }),
      framing: anyOf(
        [6, fc.constantFrom('length' as const, 'chunked' as const, 'close' as const)],
        fc.constantFrom('cut' as const, 'bad chunks' as const),
      ),
    })
    .map(({ status: line, type: stated, more: lines, said: [usual, words], damage, framing }) => {
      const whole = Buffer.from(words)
      const headers = [`content-type: ${stated ?? usual}`, ...lines]
      return { status: line, headers, body: damage?.(whole) ?? whole, framing }
    })
}

/** The bytes of it. */
function rawAnswer({ status, headers, body, framing }: OddAnswer): RawAnswer {
  const length = body.length + (framing === 'cut' ? 10 : 0)
  const told = framings[framing] === 'content-length' ? `content-length: ${length}` : framings[framing]
  const head = [`HTTP/1.1 ${status}`, ...headers, told, '', ''].join('\r\n')
  const end = Buffer.from(framing === 'bad chunks' ? 'no chunk\r\n' : '0\r\n\r\n')
  const isChunked = framing === 'chunked' || framing === 'bad chunks'
  const framed = isChunked ? Buffer.concat([...chunksOf(body), end]) : body
  return {
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), framed]),
    closes: framing !== 'length' && framing !== 'chunked',
  }
}

/** In pieces of odd sizes, so that nothing begins where a piece does. */
function chunksOf(body: Buffer): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, size = 1; at < body.length; at += size, size = (size * 3) % 10_007) {
    const piece = body.subarray(at, at + size)
    chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return chunks
}

const SHORT = [{ role: 'user', content: 'a' }]

const LONG = Array.from({ length: 60 }, (_, round) => [
  { role: 'user', content: `Why does src/queue/retry-${round}.ts fail?` },
  { role: 'assistant', content: `Because of line ${round * 7}: the counter is read before it is written.` },
]).flat()

/** Behind it a stream that is read for more has nothing that could be missing. */
const lastWord = /data: ?\[DONE\]|response\.(?:completed|incomplete|failed)|message_stop/

const answering = (
  name: string,
  words: AnswerTexts,
  path: string,
  history: 'messages' | 'input',
): FuzzTarget =>
  fuzzTarget(name, 3, ['the same bytes'], async () => {
    const all = {
      window: { tokens: 2_000, output_reserve: 256 },
      recall: { enabled: true },
      continuation: { max: 2 },
      overflow: { hold_ms: 50 },
    }
    const stage = await openStage({
      settings: { limits: { idle_s: 5, first_byte_s: 5 } },
      profiles: { default: { window: { tokens: 100_000 } }, all },
    })
    return {
      close: stage.close,
      arbitrary: fc.record({ answer: oddAnswer(words), isAll: fc.boolean(), isStreamed: fc.boolean() }),
      check: async ({ answer: given, isAll, isStreamed }) => {
        await stage.begin()
        stage.upstream.answerWith(() => rawAnswer(given))
        const asked = { model: 'm', stream: isStreamed, store: false, [history]: isAll ? LONG : SHORT }
        const profile = `x-foldgate-profile: ${isAll ? 'all' : 'default'}`
        const connection = await connectRaw(stage.port())
        connection.write(requestOf(`/v1/${path}`, JSON.stringify(asked), [profile, 'Connection: close']))
        const [answer] = await connection.wait(['POST'])
        connection.destroy()
        await stage.afterwards()
        const isWhole = given.framing !== 'cut' && given.framing !== 'bad chunks'
        if (answer === undefined) {
          if (isWhole) throw new Error('cut off, though the upstream was done')
          return 'cut'
        }
        if (answer.code !== null) {
          if (!answer.code.startsWith('upstream_'))
            throw new Error(`${answer.startLine} ${answer.body.toString()}`)
          // A server of Node can send on three digits from 100 on, but no interim answer.
          if (isWhole && Number(given.status.slice(0, 3)) >= 200)
            throw new Error(`${answer.code}, though the answer was in order`)
          return `${answer.status} ${answer.code}`
        }
        const isFirst = answer.header('x-foldgate-attempts') === '1'
        const isWithoutBody = answer.status === 204 || answer.status === 304
        const isComplete = isWhole || (isAll && lastWord.test(given.body.toString('latin1')))
        if (!isComplete && !isWithoutBody && isFirst) throw new Error('an answer that broke off looks whole')
        // An answer that may be an overflow is asked for again, with a rewritten request.
        if (isAll || !isFirst) return 'read for more'
        if (!isWithoutBody && !answer.body.equals(given.body))
          throw new Error(`other bytes came back: ${answer.body.toString('latin1').slice(0, 300)}`)
        return 'the same bytes'
      },
    }
  })

/**
 * Answers of an upstream with anything in them, while usage, overflow, continuation and recall are read for in them. What
 * need not be rewritten reaches the client byte for byte; what breaks off never looks whole.
 */
export const answers = answering('answers', chatTexts(), 'chat/completions', 'messages')

/** The same of the Responses API. */
export const events = answering('events', responseTexts(), 'responses', 'input')

/** And of the Messages API. */
export const messageEvents = answering('message-events', messageTexts(), 'messages', 'messages')
