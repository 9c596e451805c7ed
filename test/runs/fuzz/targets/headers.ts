import * as fc from 'fast-check'
import { openStage } from '../stage.ts'
import { fuzzTarget } from '../target.ts'
import { connectRaw } from '../wire/raw-exchange.ts'
import { answerOf, REPLY, type Received } from '../wire/recording-upstream.ts'
import { readRequest, valuesOf, type WireMessage } from '../wire/strict-http.ts'
import { anyOf, texts, upTo } from '../arbitrary.ts'
import { anyCharacter } from '../../../support/any-character.ts'

const OWN = /^x-foldgate-/i

/**
 * Headers of requests and answers with anything in them: line breaks, other connections' headers, our own names, values
 * that mean nothing. One request arrives for one that was sent, with the headers that belong to it; one answer comes back.
 */
export const headers = fuzzTarget('headers', 2, ['relayed'], async () => {
  const stage = await openStage({
    settings: { scope: { header: 'x-tenant' } },
    profiles: { default: { window: { tokens: 100_000 } }, other: { window: { tokens: 100_000 } } },
  })
  return {
    arbitrary: fc.record({
      target: fc.constantFrom(
        '/v1/chat/completions',
        '/v1/models',
        '/openai/deployments/a%0d%0ab/chat/completions',
      ),
      lines: upTo(6, line),
      model: fc.oneof(
        fc.string({ unit: anyCharacter }),
        fc.constantFrom('m\r\nX-Evil: 1', 'm\u0000', '\u2028', 'é'),
      ),
      answered: upTo(4, answerLine),
    }),
    check: async ({ target, lines, model, answered }) => {
      await stage.begin()
      stage.upstream.answerWith(() => answerOf('200 OK', answered, REPLY))
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'a' }] })
      const last = `Content-Length: ${Buffer.byteLength(body)}`
      const head = [`POST ${target} HTTP/1.1`, 'Host: localhost', ...lines, last].join('\r\n')
      const bytes = Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(body)])
      const framed = readRequest(bytes, 0)
      const connection = await connectRaw(stage.port())
      connection.write(bytes)
      // What is no request may be the beginning of one: it is waited for only where it is one.
      if (framed.kind === 'message') await connection.wait(['POST'])
      const received = await stage.afterwards()
      const answers = connection.answers(['POST'])
      connection.destroy()

      const [answer] = answers
      const [only] = received
      if (framed.kind !== 'message') {
        if (only !== undefined)
          throw new Error(`sent on, though it is ${JSON.stringify(framed)}: ${shown(only)}`)
        return answer === undefined ? 'no request' : `no request, ${answer.status} ${answer.code}`
      }
      if (answer === undefined) throw new Error('no answer')
      if (answer.code !== null && only === undefined) {
        if (answer.status >= 500) throw new Error(`${answer.startLine} ${answer.body.toString()}`)
        return `${answer.status} ${answer.code}`
      }
      if (only === undefined || received.length !== 1) throw new Error(`sent on ${received.length} times`)
      checkSent(framed.message, only)
      if (answer.code !== null) throw new Error(`${answer.startLine} ${answer.body.toString()}`)
      if (answer.body.toString() !== REPLY) throw new Error('another body came back')
      checkAnswer(answered, answer)
      return (answer.header('x-foldgate-action') ?? '').replace(/;.*/, '')
    },
    close: stage.close,
  }
})

const usualNames = [
  'X-Odd x-odd Accept User-Agent Cookie Authorization api-key X-Tenant Idempotency-Key Forwarded Origin Referer',
  'Connection Keep-Alive Proxy-Authorization Proxy-Connection TE Trailer Upgrade HTTP2-Settings Expect',
  'x-foldgate-bypass x-foldgate-profile x-foldgate-compact x-foldgate-conversation X-Foldgate-Action x-foldgate-',
  'Content-Type Content-Encoding Content-Disposition __proto__ constructor',
].flatMap((some) => some.split(' '))

const oddNames = [
  '',
  ...texts`
    : ¦ Host ¦ X Odd ¦ X-Odd\u0020 ¦ \u0020X-Odd ¦ X\tOdd ¦ X-O\u00e9d ¦ X-"Odd" ¦ X(Odd) ¦ X-Odd\u0000
  `,
  'x'.repeat(300),
]

const usualValues = [
  '1 a close keep-alive x-foldgate-profile Authorization upgrade websocket h2c 100-continue trailers identity',
  'application/json other default nobody ../default force off truncate , ; " %0d%0aX-Evil:',
].flatMap((some) => some.split(' '))

const oddValues = [
  '',
  ...texts`
    keep-alive, x-odd ¦ x-odd, Content-Length ¦ \u00e9 ¦ \u00ff\u0080 ¦ \t a \t ¦ Bearer sk-1 ¦ Bearer\u0020
    a\r\nX-Evil: 1 ¦ a\nX-Evil: 1 ¦ a\rX-Evil: 1 ¦ a\u0000b ¦ a\u007f ¦ a\u0001 ¦ a\r\n b ¦ a\r\n
    ${'x'.repeat(129)} ¦ ${'x'.repeat(9_000)} ¦ ${'x'.repeat(70_000)}
  `,
]

const value = anyOf(
  [8, fc.constantFrom(...usualValues)],
  [3, fc.constantFrom(...oddValues)],
  fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
)

const name = anyOf([10, fc.constantFrom(...usualNames)], fc.constantFrom(...oddNames))

const colon = anyOf([10, fc.constant(': ')], fc.constantFrom(':', ' : ', ':\t', '\t: '))

/** Headers that belong together. */
const pairs = texts`
  Connection: x-odd\r\nX-Odd: 1 ¦ X-Odd: 1\r\nConnection: close, X-ODD ¦ Connection: Cookie\r\nCookie: a
  X-Tenant: a\r\nX-Tenant: b ¦ Cookie: a\r\nCookie: b ¦ TE: trailers\r\nConnection: TE ¦ Accept: a\r\naccept: b
  Expect: 100-continue\r\nX-Odd: 1 ¦ Authorization: Bearer a\r\nAuthorization: Bearer b
`

const line = anyOf(
  [6, fc.tuple(name, colon, value).map((parts) => parts.join(''))],
  fc.constantFrom(...pairs),
)

const answerNames = [
  'X-Odd Set-Cookie Vary Connection Keep-Alive X-Foldgate-Action x-foldgate-evil Content-Type Retry-After',
  'openai-version Trailer Date X-Accel-Buffering Upgrade',
].flatMap((some) => some.split(' '))

/** Headers that an upstream may send: what its own server would not write is no part of this. */
const answerLine = fc
  .tuple(
    fc.constantFrom(...answerNames),
    fc.oneof(
      fc.constantFrom(
        '',
        '1',
        'keep-alive, x-odd',
        'x-odd',
        'Accept',
        '*',
        'text/plain',
        '\u00e9\u00ff',
        'a\tb',
        '0',
      ),
      fc.constantFrom('x'.repeat(5_000), '%0d%0aX-Evil: 1'),
      fc.stringMatching(/^[\x20-\x7e]{0,20}$/),
    ),
  )
  .map(([own, text]) => `${own}: ${text}`)

type Fields = WireMessage['headers']

/** Those that are made anew, by the HTTP client or by Foldgate. */
const madeAnew = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'date',
  'keep-alive',
  // Answers are read: that they may be packed is not asked for.
  'accept-encoding',
])

/** RFC 9110 section 7.6.1, and what `docs/` says of Foldgate's own. */
function endToEnd(fields: Fields): string[] {
  const named = new Set(
    valuesOf(fields, 'connection').flatMap((each) =>
      each.split(',').map((token) => token.trim().toLowerCase()),
    ),
  )
  const isHop = /^(?:te|trailer|upgrade|http2-settings|proxy-.*)$/
  return fields.flatMap(([field, text]) => {
    const lower = field.toLowerCase()
    const isDropped = madeAnew.has(lower) || named.has(lower) || isHop.test(lower) || OWN.test(field)
    return isDropped ? [] : [`${field}: ${text}`]
  })
}

function checkSent(sent: WireMessage, received: Received): void {
  const [expected, got] = [endToEnd(sent.headers), endToEnd(received.headers)]
  if (expected.join('\n') !== got.join('\n')) throw new Error(`arrived with ${shown(received)}`)
  const own = received.headers.find(([field]) => OWN.test(field))
  if (own !== undefined) throw new Error(`${own[0]} was sent on`)
  if (!received.body.equals(sent.body)) throw new Error('arrived with another body')
}

/** What the upstream said of itself comes back as it was; of Foldgate there is only what Foldgate says. */
function checkAnswer(answered: readonly string[], answer: WireMessage): void {
  const sent = answered.map((text): [string, string] => {
    const at = text.indexOf(':')
    return [text.slice(0, at), text.slice(at + 1).trim()]
  })
  const [expected, got] = [endToEnd(sent), endToEnd(answer.headers)]
  if (expected.join('\n') !== got.join('\n')) throw new Error(`answered with ${JSON.stringify(got)}`)
  const evil = answer.headers.find(([field]) => /evil/i.test(field))
  if (evil !== undefined) throw new Error(`${evil.join(': ')} came back`)
  const action = valuesOf(answer.headers, 'x-foldgate-action')
  if (action.length !== 1 || !/^(?:relayed|bypassed|compacted)/.test(action[0] ?? ''))
    throw new Error(`x-foldgate-action: ${action.join(' and ')}`)
}

function shown({ startLine, headers: fields }: Received): string {
  return `${startLine} ${JSON.stringify(fields)}`
}
