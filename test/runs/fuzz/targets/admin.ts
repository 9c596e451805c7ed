import * as fc from 'fast-check'
import { openStage } from '../stage.ts'
import { fuzzTarget } from '../target.ts'
import { connectRaw, requestOf } from '../wire/raw-exchange.ts'
import { readRequest } from '../wire/strict-http.ts'
import { anyOf, oneText, texts, upTo } from '../arbitrary.ts'

const TOKEN = 'a-token-of-the-operator'
const SAID = 'only-the-operator-may-read-this'

/**
 * The admin listener, asked for anything by anybody: it never fails, and whoever has not its token learns nothing, not
 * even which conversations there are.
 */
export const admin = fuzzTarget('admin', 2, ['200', '401'], async () => {
  const stage = await openStage({
    settings: { admin: { token_env: 'ADMIN_TOKEN', show_content: true }, limits: { body_mb: 1 } },
    profiles: { default: { window: { tokens: 2_000, output_reserve: 256 } } },
    env: { ADMIN_TOKEN: TOKEN },
  })
  const messages = [
    { role: 'user', content: SAID.repeat(200) },
    { role: 'assistant', content: 'a' },
    { role: 'user', content: SAID },
  ]
  const body = JSON.stringify({ model: SAID, messages })
  const say = () => stage.client.ask(requestOf('/v1/chat/completions', body))
  const conversation = (await say()).header('x-foldgate-conversation') ?? ''
  const secrets = [SAID, conversation, TOKEN]
  return {
    arbitrary: fc.record({
      asked: anyOf([3, question(conversation)], fc.tuple(method, path(conversation))),
      query,
      lines: fc.oneof(fc.constant<string[]>([]), upTo(3, line)),
      credential: anyOf([2, fc.constant(RIGHT)], fc.constantFrom(...credentials)),
      content: fc.constantFrom(...contents),
    }),
    check: async (input) => {
      await stage.begin()
      const { lines, credential, content } = input
      const [method, target] = input.asked
      const head = [
        `${method} ${target}${input.query} HTTP/1.1`,
        ...lines,
        ...(credential === null ? [] : [credential]),
      ]
      const length = `Content-Length: ${Buffer.byteLength(content)}`
      const isNamed = lines.some((each) => /^host/i.test(each))
      const all = [...head, ...(isNamed ? [] : ['Host: localhost']), 'Connection: close', length, '', content]
      const bytes = Buffer.from(
        all.join('\r\n').replace(`${length}\r\n`, `${length}\r\n\r\n`).replace('\r\n\r\n\r\n', '\r\n\r\n'),
        'latin1',
      )
      const isRequest = readRequest(bytes, 0).kind === 'message'
      const connection = await connectRaw(stage.adminPort())
      connection.write(bytes)
      const isStream = lines.includes(EVENT_STREAM) || target.startsWith('/changes')
      // A stream of events has no end, and what is no request may be the beginning of one.
      if (isRequest && !isStream) await connection.wait([method])
      const received = await stage.afterwards()
      const [answer] = connection.answers([method])
      const isClosed = connection.isClosed()
      connection.destroy()
      if (method === 'DELETE') await say()
      if (received.length > 0) throw new Error(`asked the upstream: ${received[0]?.startLine}`)
      if (answer === undefined) return isClosed ? 'cut' : isStream ? 'a stream' : 'waits for more'
      if (answer.status >= 500) throw new Error(`${answer.startLine} ${answer.body.toString().slice(0, 300)}`)
      const text = [...answer.headers.flat(), answer.body.toString()].join('\n')
      const told = secrets.find((secret) => text.includes(secret))
      if (credential !== RIGHT && told !== undefined && !target.includes(told) && !content.includes(told))
        throw new Error(`${told} was told without the token: ${text.slice(0, 500)}`)
      if (credential !== RIGHT && answer.status < 400)
        throw new Error(`let in without the token: ${text.slice(0, 500)}`)
      return answer.code === null ? String(answer.status) : `${answer.status} ${answer.code}`
    },
    close: stage.close,
  }
})

const RIGHT = `Authorization: Bearer ${TOKEN}`

const EVENT_STREAM = 'Accept: text/event-stream'

const credentials = [
  null,
  ...texts`
    Authorization: Bearer ¦ Authorization: Bearer wrong ¦ Authorization: Basic ${TOKEN} ¦ Cookie: ${TOKEN}
    ${RIGHT}x ¦ Authorization: ${TOKEN} ¦ Authorization: Bearer ${TOKEN.slice(0, -1)} ¦ Authorization: Basic Og==
  `,
]

const line = oneText`
    Accept: text/html ¦ ${EVENT_STREAM} ¦ Accept: */* ¦ Last-Event-ID: 1 ¦ Last-Event-ID: \u00ff
    Last-Event-ID: ${'9'.repeat(400)} ¦ Host: localhost ¦ Host: evil.example ¦ Host: [::1 ¦ Host: a b ¦ Host:
    Host: localhost/metrics? ¦ Origin: http://evil.example ¦ Origin: null ¦ Sec-Fetch-Site: cross-site
    Sec-Fetch-Mode: navigate ¦ Sec-Fetch-Dest: document ¦ Content-Encoding: gzip ¦ Content-Type: text/html
    X-Forwarded-For: 127.0.0.1 ¦ X-Foldgate-Profile: nobody ¦ Expect: 100-continue ¦ Upgrade: websocket
    Transfer-Encoding: chunked ¦ If-None-Match: * ¦ Range: bytes=0-1
  `

const segments = [
  '',
  ...texts`
    conversations ¦ models ¦ events ¦ metrics ¦ explain ¦ assets ¦ page.css ¦ page.js ¦ compact ¦ changes ¦ healthz ¦ admin
    v1 ¦ nobody ¦ .. ¦ . ¦ %2e%2e ¦ %2f ¦ %00 ¦ %ff ¦ % ¦ a b ¦ __proto__ ¦ constructor ¦ * ¦ <script>
    %3Cscript%3E ¦ \u00e9 ¦ ${'x'.repeat(200)}
  `,
]

const method = fc.constantFrom('GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PUT')

/** What there is to ask. */
function question(conversation: string): fc.Arbitrary<readonly [string, string]> {
  const questions = texts`
    GET / ¦ GET /metrics ¦ GET /conversations ¦ GET /conversations/${conversation} ¦ GET /events ¦ GET /changes
    GET /models ¦ DELETE /models/${conversation} ¦ POST /explain ¦ POST /explain ¦ POST /conversations/${conversation}/compact ¦ DELETE /conversations/${conversation}
  `
  return fc.constantFrom(...questions).map((asked) => {
    const [asking = '', target = ''] = asked.split(' ')
    return [asking, target] as const
  })
}

function path(conversation: string): fc.Arbitrary<string> {
  const whole = texts`
    / ¦ /metrics ¦ /models ¦ /models/x ¦ /conversations ¦ /conversations/${conversation} ¦ /conversations/${conversation}/compact ¦ /events
    /explain ¦ /changes ¦ /assets/page.css ¦ /conversations/0123456789abcdef ¦ /conversations/x/compact ¦ //metrics
    /metrics/ ¦ /metrics/.. ¦ http://localhost/metrics
  `
  const made = fc.array(fc.constantFrom(...segments, conversation), { maxLength: 4 })
  return anyOf(
    [3, fc.constantFrom(...whole)],
    made.map((parts) => `/${parts.join('/')}`),
  )
}

const keys = [
  '',
  ...texts`limit ¦ before ¦ type ¦ conversation ¦ profile ¦ model ¦ token ¦ __proto__ ¦ limit[]`,
]

const values = [
  '',
  ...texts`
    1 ¦ 0 ¦ -1 ¦ 1001 ¦ 1e3 ¦ NaN ¦ %00 ¦ % ¦ %ff ¦ compaction ¦ default ¦ \u00e9 ¦ 2-1 ¦ 99999999999999999999
    ${'x'.repeat(3_000)}
  `,
]

const query = fc.oneof(
  fc.constant(''),
  fc
    .array(fc.tuple(fc.constantFrom(...keys), fc.constantFrom(...values)), { maxLength: 3 })
    .map((pairs) => `?${pairs.map((pair) => pair.join('=')).join('&')}`),
)

const contents = [
  '',
  ...texts`
    {} ¦ [ ¦ null ¦ {"model":"m","messages":[]} ¦ {"model":"m","messages":[{"role":"user","content":"a"}]}
    {"messages":[{}]} ¦ \u0000 ¦ \u00ff
  `,
  `{"model":"m","messages":[${'['.repeat(50_000)}]}`,
  `{"model":"m","messages":[{"role":"user","content":${'['.repeat(50_000)}${']'.repeat(50_000)}}]}`,
  `{"model":"m","messages":[${'{"role":"user","content":"why?"},{"role":"assistant","content":"because"},'.repeat(2_000)}{"role":"user","content":"a"}]}`,
  'x'.repeat(1_100_000),
]
