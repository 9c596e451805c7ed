import { describe, expect, test } from 'vitest'
import { bytes, events, json, overflow, type Script } from '../../support/fake-upstream.ts'
import { alternation, cut, openPlays, smallWindow, twoWishes, type Play } from './plays.ts'
import { chatOf, rawMessages } from '../../support/post-chat.ts'
import { refusesUsage, usageRefusalIn } from '../../../src/pipeline/send/usage-in-streams.ts'

const addition = ',"stream_options":{"include_usage":true}'
const usageEvent =
  'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}\n\n'
const shownEvents = [
  ': wait\n\n',
  'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"hé"}}]}\n\n',
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
] as const
const shown = shownEvents.join('')
const withUsage = [
  ...shownEvents.slice(0, 3).map((event) => event.replace(/}\n\n$/, ',"usage":null}\n\n')),
  usageEvent,
  ...shownEvents.slice(3),
]

const request = chatOf(twoWishes, { stream: true })
const short = chatOf([{ role: 'user', content: 'hello' }], { stream: true })

const asksUsage = (body: string | undefined) => body?.includes('"include_usage":true') === true

/** Answers with the usage event where it was asked for. */
const server: Script = ({ body }) => events(asksUsage(body.toString()) ? withUsage : shownEvents)

const plays = {
  rewritten: openPlays(smallWindow, { usage: { in_streams: 'rewritten' } }),
  always: openPlays(smallWindow, { usage: { in_streams: 'always' } }),
  never: openPlays(smallWindow, { usage: { in_streams: 'never' } }),
}
const play = plays.rewritten

/** The requests as they reach an upstream that accepts everything. */
async function sentUnder(inStreams: keyof typeof plays, body: object | string): Promise<string> {
  const at = plays[inStreams](server)
  await at.post(body)
  return at
    .bodies()
    .join('\n')
    .replace(/"play-\d+"/, '"test-model"')
}

/** The one body that came to the upstream, as the client names its model. */
const onlyBody = (at: Play) => at.bodies()[0]?.replace(/"play-\d+"/, '"test-model"')

const refusing = (message: string, status = 400, more: object = {}): Script =>
  json({ error: { message, ...more } }, status)

const unknownField = refusing("Unknown parameter: 'stream_options'.", 400, { param: 'stream_options' })
const opaque = refusing('I cannot make sense of this.')

/** Answers where usage is not asked for. */
const refusingUsage =
  (refusal: Script): Script =>
  (received) =>
    asksUsage(received.body.toString()) ? refusal : server

describe('a streamed request that is rewritten', () => {
  test('asks for usage behind `stream`; nothing else of it is another byte, and the client sees no more', async () => {
    const at = play(server)
    const reply = await at.post(request)
    expect(reply.action).toBe('compacted')
    expect(reply.header('x-foldgate-attempts')).toBe('1')
    expect(reply.text).toBe(shown)
    const [sent] = at.bodies()
    expect(sent).toContain(`"stream":true${addition}`)
    expect(onlyBody(at)?.replace(addition, '')).toBe(await sentUnder('never', request))
  })
  test.each<[string, object, string]>([
    ['a client that asks sees what it asked for', { include_usage: true }, withUsage.join('')],
    ['a client that does not want it is not overruled', { include_usage: false }, shown],
  ])('%s', async (_name, options, expected) => {
    const body = { ...request, stream_options: options }
    const at = play(server)
    const reply = await at.post(body)
    expect(reply.action).toBe('compacted')
    expect(reply.text).toBe(expected)
    expect(onlyBody(at)).toBe(await sentUnder('never', body))
  })

  test('with its output limit lowered, too', async () => {
    const at = play([overflow(4_096, 8_000), server], { window: { tokens: 200_000 } })
    const reply = await at.post({ ...request, max_tokens: 100_000 })
    expect(reply.action).toBe('recovered')
    expect(reply.text).toBe(shown)
    expect(at.bodies()[0]).not.toContain('include_usage')
    expect(at.bodies()[1]).toMatch(
      /"stream":true,"stream_options":\{"include_usage":true\},"max_tokens":\d{4}\b/,
    )
  })

  test('and its answer is hidden as well where its beginning was held back', async () => {
    const late = [
      ': wait\n\n',
      'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n',
      usageEvent,
    ]
    const rest = ['data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', 'data: [DONE]\n\n']
    const profile = { ...smallWindow, trigger: 0.95, target: 0.9, keep: { recent_messages: 16 } }
    const at = play(events([...late, ...rest]), profile)
    const reply = await at.post(request)
    expect(reply.action).toBe('compacted')
    // More than half of the window: such an answer may still be an overflow.
    expect(Number(/sent=(\d+)/.exec(reply.header('x-foldgate-tokens') ?? '')?.[1])).toBeGreaterThan(2_048)
    expect(reply.text).toBe([...late.slice(0, 2), ...rest].join(''))
  })

  test('answered with a stated length: it is left out', async () => {
    const all = withUsage.join('')
    const at = play(bytes(all, { 'content-type': 'text/event-stream; charset=utf-8' }))
    const reply = await at.post(request)
    expect(reply.header('content-length')).toBeNull()
    expect(reply.text).toBe(shown)
  })

  test('answered by what is no stream: it goes on as it came', async () => {
    const body = JSON.stringify({ choices: [], usage: { prompt_tokens: 9 } })
    const at = play(bytes(`${body}\n`, { 'content-type': 'application/json' }))
    const reply = await at.post(request)
    expect(asksUsage(at.bodies()[0])).toBe(true)
    expect(reply.header('content-length')).toBe(String(body.length + 1))
    expect(reply.text).toBe(`${body}\n`)
  })

  test('answered by a stream that breaks off: so does the one to the client', async () => {
    const at = play(events([...withUsage.slice(0, 2), 'data: {"choices":[],"us'], 'cut'))
    await expect(at.post(request)).rejects.toThrow('terminated')
  })
})

const chunkOf = (text: string, reason: string): string =>
  `data: {"id":"x","choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":${reason}}],"usage":null}\n\n`

describe('where usage is asked for', () => {
  const plain = { ...request, stream: false }
  test.each<[string, keyof typeof plays, object, boolean]>([
    ['rewritten: not in a request that goes on as it came', 'rewritten', short, false],
    ['rewritten: not in one that is no stream', 'rewritten', plain, false],
    ['never: not even in a rewritten one', 'never', request, false],
    ['always: in one that goes on as it came', 'always', short, true],
    ['always: in a rewritten one', 'always', request, true],
    ['always: not in one that is no stream', 'always', plain, false],
  ])('%s', async (_name, inStreams, body, expected) => {
    const at = plays[inStreams](server)
    const reply = await at.post(body)
    expect(asksUsage(at.bodies()[0])).toBe(expected)
    expect(reply.text).toBe(shown)
    if (body === short) expect(at.bodies()[0]?.replace(addition, '')).toBe(at.spelt(short))
    if (body === short) expect(reply.action).toBe('relayed')
  })

  test('always: not where Foldgate only observes, is bypassed, or could not read the body', async () => {
    const observing = plays.always(server, { ...smallWindow, observe: true })
    await observing.post(request)
    expect(observing.bodies()).toEqual([observing.spelt(request)])
    const at = plays.always(server)
    await at.post(short, { 'x-foldgate-bypass': '1' })
    const unreadable = at.spelt('{"model":"test-model","stream":true,"messages":[7]}')
    await at.post(unreadable)
    expect(at.bodies()).toEqual([at.spelt(short), unreadable])
  })

  test('not where an earlier answer stated usage unasked; the client sees it as it would without Foldgate', async () => {
    const at = play(events(withUsage))
    expect((await at.post(short)).text).toBe(withUsage.join(''))
    const reply = await at.post(request)
    expect(reply.action).toBe('compacted')
    expect(reply.text).toBe(withUsage.join(''))
    expect(at.bodies().map(asksUsage)).toEqual([false, false])
    await at.post({ ...request, model: 'another' })
    expect(asksUsage(at.bodies()[2])).toBe(true)
  })

  // llama.cpp's server puts its timings into a stream's last chunk: the one that ends it, or the one with the usage. Foldgate
  // asked on and on, and hid them with what it had asked for. Then they came behind the end of the reply.
  test('not of llama.cpp, whose timings state it unasked; and where it was asked, the client sees the timings', async () => {
    const timings = '"timings":{"cache_n":4,"prompt_n":5,"predicted_n":2,"predicted_per_second":52.9}'
    const [wait, content, stop, done] = shownEvents
    const timedStop = stop.replace(/}\n\n$/, `,${timings}}\n\n`)
    const timedUsage = usageEvent.replace(/}\n\n$/, `,${timings}}\n\n`)
    const llamaServer: Script = (received) => {
      const isAsked = asksUsage(received.body.toString())
      const ending = isAsked ? [stop, timedUsage] : [timedStop]
      return events([wait, content, ...ending, done])
    }
    const at = play(llamaServer)
    const asked = await at.post(request)
    expect(asked.text).toBe([wait, content, timedStop, done].join(''))
    await at.post(short)
    const unasked = await at.post(request)
    expect(unasked.text).toBe([wait, content, timedStop, done].join(''))
    expect(at.bodies().map(asksUsage)).toEqual([true, false, false])
  })

  test('and of a reply that took two answers nothing comes behind its end either', async () => {
    const [, , , done] = shownEvents
    const timings = '"timings":{"prompt_n":5}'
    const answerOf = (text: string, reason: string) =>
      events([
        chunkOf(text, 'null'),
        chunkOf('', reason),
        usageEvent.replace(/}\n\n$/, `,${timings}}\n\n`),
        done,
      ])
    const at = plays.always([answerOf('One', '"length"'), answerOf(' two', '"stop"')], {
      continuation: { max: 1 },
    })
    const reply = await at.post(short)
    expect(at.bodies().map(asksUsage)).toEqual([true, true])
    expect(reply.text).not.toContain('usage')
    const [ended, last] = reply.text.split(/(?<=\n\n)/).slice(-2)
    expect(ended).toMatch(/"finish_reason":"stop".*"timings":\{"prompt_n":5\}/)
    expect(last).toBe(done)
  })

  test('but where it was stated because the client had asked', async () => {
    const at = play(server)
    await at.post({ ...short, stream_options: { include_usage: true } })
    await at.post(request)
    expect(at.bodies().map(asksUsage)).toEqual([true, true])
  })
})

describe('an upstream that refuses to be asked', () => {
  const named: readonly (readonly [string, Script])[] = [
    ['by its name', unknownField],
    ['by its name, with 422', refusing('stream_options: Extra inputs are not permitted', 422)],
    ['as a field that it does not know', refusing('Extra inputs are not permitted')],
  ]
  // The story: one failure that passed was taken for a refusal of the field, and for a day no stream told its usage.
  test.each(named)(
    '%s: the same view goes without, and later ones at once when it happened twice',
    async (_name, refusal) => {
      const at = play(refusingUsage(refusal))
      for (const attempts of ['2', '2', '1']) {
        const reply = await at.post(request)
        expect([reply.action, reply.text]).toEqual(['compacted', shown])
        expect(reply.header('x-foldgate-attempts')).toBe(attempts)
      }
      const [asked, unasked, ...later] = at.bodies()
      expect(asksUsage(asked)).toBe(true)
      expect(unasked).toBe(asked?.replace(addition, ''))
      expect(later).toEqual([asked, unasked, unasked])
      // Only this model of it: another may be another server.
      await at.post({ ...request, model: 'another' })
      expect(asksUsage(at.bodies()[5])).toBe(true)
    },
  )

  test('with a 5xx: the same view goes without, and nothing is believed', async () => {
    const refusal = refusing("create() got an unexpected keyword argument 'stream_options'", 500)
    const at = play(refusingUsage(refusal))
    for (const each of [1, 2, 3]) expect((await at.post(request)).text, `${each}`).toBe(shown)
    expect(at.bodies().map(asksUsage)).toEqual([true, false, true, false, true, false])
  })

  test("and then the view, too, gets the client's own bytes; only that is remembered", async () => {
    const at = play([unknownField, opaque, server])
    const reply = await at.post(request)
    expect(reply.action).toBe('restored;reason=original')
    expect(reply.header('x-foldgate-attempts')).toBe('3')
    expect(at.bodies().map(asksUsage)).toEqual([true, false, false])
    expect(at.bodies()[2]).toBe(at.spelt(request))
    expect((await at.post(request)).action).toBe('relayed;reason=refused-before')
  })

  test('without saying why: later views go without when it happened twice, rather than compaction ending', async () => {
    // Any refusal of a view taught that only original bytes work: one field would have ended compaction.
    const at = play(refusingUsage(opaque))
    for (const action of ['restored;reason=original', 'restored;reason=original', 'compacted'])
      expect((await at.post(request)).action).toBe(action)
    expect(at.bodies()[1]).toBe(at.spelt(request))
    expect(at.bodies().map(asksUsage)).toEqual([true, false, true, false, false])
  })

  test('without saying why, and the view it was: a later one teaches that', async () => {
    const at = play((received) => (received.body.toString() === at.spelt(request) ? server : opaque))
    for (const action of ['restored;reason=original', 'restored;reason=original', 'restored;reason=original'])
      expect((await at.post(request)).action).toBe(action)
    expect((await at.post(request)).action).toBe('relayed;reason=refused-before')
    expect(at.bodies().map(asksUsage)).toEqual([true, false, true, false, false, false, false])
  })

  test('without saying why, and the original is too long: the smaller view goes without', async () => {
    const at = play([opaque, overflow(8_192, 20_000), server])
    const reply = await at.post(request)
    expect(reply.action).toBe('recovered')
    expect(reply.text).toBe(shown)
    expect(at.bodies().map(asksUsage)).toEqual([true, false, false])
    expect((await at.post(request)).action).toBe('compacted')
  })

  test('speaks of it, and the connection fails: what the client gets is an answer of the upstream', async () => {
    const at = play([unknownField, cut])
    const reply = await at.post(request)
    expect(reply.status).toBe(400)
    expect(reply.text).toContain('stream_options')
    expect(reply.header('x-foldgate-attempts')).toBe('3')
  })
})

describe('a refusal that is about something else', () => {
  test('the order of messages: they are joined, and later requests ask again', async () => {
    const at = play([alternation, server])
    const reply = await at.post(request)
    expect(reply.action).toBe('restored;reason=strict')
    expect(reply.text).toBe(shown)
    expect((await at.post(request)).action).toBe('compacted')
    expect(at.bodies().map(asksUsage)).toEqual([true, false, true])
    expect(rawMessages(at.upstream.requests[2])).toEqual(rawMessages(at.upstream.requests[1]))
  })

  test('an overflow: the smaller view asks, too', async () => {
    const at = play([overflow(3_000, 3_500), server])
    const reply = await at.post(request)
    expect(reply.action).toBe('recovered')
    expect(reply.text).toBe(shown)
    expect(at.bodies().map(asksUsage)).toEqual([true, true])
  })

  test("a rate limit that names the field is the client's at once", async () => {
    const at = play([refusing('slow down: stream_options', 429), server])
    expect((await at.post(request)).status).toBe(429)
    expect(at.upstream.requests).toHaveLength(1)
  })
})

describe('always, in a request that goes on as it came but for this', () => {
  test.each<[string, Script]>([
    ['names it', unknownField],
    ['says nothing of it', opaque],
  ])("a refusal that %s is answered by the client's own bytes", async (_name, refusal) => {
    const at = plays.always(refusingUsage(refusal))
    for (const attempts of ['2', '2', '1']) {
      const reply = await at.post(short)
      expect([reply.action, reply.header('x-foldgate-attempts')]).toEqual(['relayed', attempts])
      expect(reply.text).toBe(shown)
    }
    const plain = at.bodies().filter((body) => !asksUsage(body))
    expect(plain).toEqual([at.spelt(short), at.spelt(short), at.spelt(short)])
  })

  test("the upstream's word on the client's own bytes is the client's", async () => {
    const own = json({ error: { message: 'unknown tool "x"' } }, 422)
    const at = plays.always([opaque, own, server])
    const reply = await at.post(short)
    expect([reply.status, reply.text]).toEqual([422, '{"error":{"message":"unknown tool \\"x\\""}}'])
    await at.post(short)
    expect(at.bodies().map(asksUsage)).toEqual([true, false, true])
  })

  test('one about the order of messages is the client’s at once', async () => {
    const at = plays.always([alternation, server])
    expect((await at.post(short)).status).toBe(400)
    expect(at.upstream.requests).toHaveLength(1)
  })
})

const said = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } })

describe('a refusal of the field that asks for usage', () => {
  test.each<[string, string]>([
    ['OpenAI', said("Unknown parameter: 'stream_options'.", { param: 'stream_options' })],
    ['an error that names it elsewhere', said('Bad request.', { param: 'stream_options.include_usage' })],
    ['Azure, older versions', said('Unrecognized request argument supplied: stream_options')],
    ['xAI, Databricks', said('Argument not supported on this model: stream_options')],
    ['Groq', said("property 'stream_options' is unsupported")],
    ['Gemini', said('Invalid JSON payload received. Unknown name "stream_options": Cannot find field.')],
    ['Go', said('json: unknown field "stream_options"')],
    ['Python, with a 500', "create() got an unexpected keyword argument 'stream_options'"],
    ['a sentence of its own', said('Streaming options (stream options) are for paying customers.')],
  ])('that names it: %s', (_name, body) => {
    expect(usageRefusalIn(body)).toBe('named')
  })

  const forbidden = { type: 'extra_forbidden', loc: ['body', 'stream_options'], input: {} }
  test.each<[string, string]>([
    [
      'Mistral',
      JSON.stringify({
        message: { detail: [{ ...forbidden, msg: 'Extra inputs are not permitted' }] },
        object: 'error',
      }),
    ],
    ['pydantic 1', JSON.stringify({ detail: [{ ...forbidden, msg: 'extra fields not permitted' }] })],
    ['JSON Schema', said('body must NOT have additional properties')],
    ['Zod', said('Unrecognized key(s) in object')],
    ['NestJS', JSON.stringify({ statusCode: 400, message: ['property x should not exist'] })],
    ['LiteLLM', said('UnsupportedParamsError: m does not support these unsupported parameters')],
    ['a field that is not allowed', said('The field is not allowed here.')],
  ])('that only knows of a field it does not know: %s', (_name, body) => {
    expect(usageRefusalIn(body)).toBe('unknown-field')
  })

  test.each<[string, string]>([
    ['nothing', ''],
    ['nothing to go by', said('I cannot make sense of this.')],
    ['an order', said('Conversation roles must alternate user/assistant/user/assistant/...')],
    ['a content type', said('Content type image_url is not supported by this model.')],
    // The field stands only in the client's own request, which some servers quote.
    ['a quotation', JSON.stringify({ detail: [{ msg: 'Field required', input: { stream_options: {} } }] })],
  ])('is not: %s', (_name, body) => {
    expect(usageRefusalIn(body)).toBe('opaque')
  })
})

test.each<[string, boolean]>([
  ['https://api.mistral.ai', true],
  ['https://codestral.mistral.ai:8443', true],
  ['https://mistral.ai.example.com', false],
  ['https://notmistral.ai', false],
  ['http://127.0.0.1:8000', false],
])('%s is known to refuse to be asked: %s', (origin, isKnown) => {
  expect(refusesUsage(new URL(origin).hostname)).toBe(isKnown)
})
