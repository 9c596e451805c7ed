import * as fc from 'fast-check'
import * as inMessages from '../../../support/messages/script.ts'
import { responseEvents, responseOf, type ScriptedEnd } from '../../../support/responses/script.ts'
import { anyOf, anyOr, damages, oneText, place, texts, upTo, withOtherField } from '../arbitrary.ts'
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

/** What stands in another place of an answer than it should. */
const odd = anyOr(
  ...oddValues,
  ...texts`
    stop ¦ length ¦ end_turn ¦ max_tokens ¦ model_context_window_exceeded ¦ completed ¦ failed ¦ telepathy
    recall_conversation ¦ {"query":"a"} ¦ {"search":"a"} ¦ context_length_exceeded
    prompt is too long: 5000 tokens > 2000 maximum
  `,
)

/** What a dialect answers, as streams of events and plainly: as it should be, of wrong types, in a wrong order. */
type AnswerTexts = { readonly streamed: fc.Arbitrary<string>; readonly plain: fc.Arbitrary<string> }

const oddEvents = texts`
  data: [DONE]\n\n ¦ : comment\n\n ¦ \n\n\n ¦ event: error\ndata: {"error":{"message":"a"}}\n\n ¦ data\n\n
  id: 1\nretry: 0\n\n ¦ data: \n\n ¦ data: {"\n\n ¦ data: x\r\r ¦ \ufeffdata: 1\n\n ¦ event: ping\ndata: {}\n\n
  data: ${'x'.repeat(300_000)}\n\n ¦ data: ${'['.repeat(50_000)}\n\n ¦ ${'data: 1\n'.repeat(2_000)}
  data: [${'{},'.repeat(200_000)}{}]\n\n
  event: error\ndata: {"error":{"code":"context_length_exceeded"}}\n\n
  event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n
`

const changed = (json: string, all: readonly (readonly [number, unknown])[]): string =>
  all.reduce((before, [at, other]) => withOtherField(before, at, other), json)

/** Of good ones: some of the events with other values in them, in any order, or all as they come; and the same of a plain answer. */
function textsOf(plain: object, events: readonly string[]): AnswerTexts {
  const changes = upTo(3, fc.tuple(place, odd))
  const event = fc.tuple(fc.constantFrom(...events), changes, fc.boolean()).map(([text, all, isNamed]) => {
    const [, name = '', data = ''] = /^(event: .*\n)?data: (.*)\n\n$/.exec(text) ?? []
    return `${isNamed ? name : ''}data: ${changed(data, all)}\n\n`
  })
  const others = ['', '{', 'null', '['.repeat(100_000), `"${'x'.repeat(1_500_000)}"`, '<html>busy</html>']
  const some = upTo(12, anyOf([6, event], fc.constantFrom(...oddEvents)))
  return {
    streamed: anyOf(
      [3, some],
      fc.tuple(fc.constant([...events]), some).map((all) => all.flat()),
    ).map((all) => all.join('')),
    plain: anyOf([8, changes.map((all) => changed(JSON.stringify(plain), all))], fc.constantFrom(...others)),
  }
}

const said = 'The work goes on. '.repeat(3)
const searchInput = '{"search":"a"}'

function chatTexts(): AnswerTexts {
  const about = { id: 'c', created: 1, model: 'm' }
  const recalling = { name: 'recall_conversation', arguments: searchInput }
  const calls = [{ index: 0, id: 'call_1', type: 'function', function: recalling }]
  const all = { role: 'assistant', content: said, reasoning_content: said, tool_calls: calls }
  const usage = { prompt_tokens: 100, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 64 } }
  const whole = (kind: 'delta' | 'message', value: object, finish_reason: string | null) => ({
    ...about,
    choices: [{ index: 0, [kind]: value, finish_reason }],
  })
  const chunks = [
    ...Object.entries(all).map(([key, value]) => whole('delta', { [key]: value }, null)),
    ...['stop', 'length', 'tool_calls'].map((finish) => whole('delta', {}, finish)),
    { ...about, choices: [], usage },
    { error: { message: 'a', type: 'invalid_request_error', code: 'context_length_exceeded' } },
  ]
  return textsOf(
    { ...whole('message', all, 'stop'), usage },
    chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`),
  )
}

function responseTexts(): AnswerTexts {
  const name = 'recall_conversation'
  const output = [
    { type: 'reasoning', id: 'a_1', summary: [], encrypted_content: 'gA' },
    { type: 'message', id: 'a_2', role: 'assistant', content: [{ type: 'output_text', text: said }] },
    { type: 'function_call', id: 'a_3', call_id: 'call_1', name, arguments: searchInput },
  ]
  const usage = { promptTokens: 100, cachedTokens: 64, outputTokens: 9, reasoningTokens: 4 }
  const body = { model: 'm', store: false }
  const reply = (end: ScriptedEnd) => ({ id: 'resp_1', createdS: 1, body, output, end, usage, removed: [] })
  const done = reply({ status: 'completed' })
  const cut = reply({ status: 'incomplete', reason: 'max_output_tokens' })
  const failed = reply({ status: 'failed', code: 'context_length_exceeded', message: 'a' })
  return textsOf(responseOf(done, 'completed'), [
    ...responseEvents(done),
    ...[cut, failed].flatMap((each) => [...responseEvents(each)].slice(-1)),
  ])
}

function messageTexts(): AnswerTexts {
  const content = [
    { type: 'thinking', thinking: said, signature: 'gA' },
    { type: 'text', text: said },
    { type: 'tool_use', id: 'toolu_1', name: 'recall_conversation', input: { search: 'a' } },
    { type: 'compaction', content: said, signature: 'gA' },
  ]
  const usage = { promptTokens: 100, cache: { read: 64, written: { '5m': 8, '1h': 0 } }, outputTokens: 9 }
  const reply = (stopReason: string): inMessages.WrittenReply => {
    return { id: 'msg_1', body: { model: 'm' }, content, stopReason, usage, transformations: [] }
  }
  const done = reply('end_turn')
  return textsOf(inMessages.messageOf(done, 'whole'), [
    ...inMessages.messageEvents(done),
    ...['max_tokens', 'tool_use'].flatMap((reason) =>
      [...inMessages.messageEvents(reply(reason))].slice(-2, -1),
    ),
  ])
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
