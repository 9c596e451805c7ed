import * as fc from 'fast-check'
import { openStage } from '../stage.ts'
import { fuzzTarget } from '../target.ts'
import { connectRaw, type Answer } from '../wire/raw-exchange.ts'
import type { Received } from '../wire/recording-upstream.ts'
import { readRequest } from '../wire/strict-http.ts'
import { anyOf, texts, upTo } from '../arbitrary.ts'

/**
 * Bytes of which one server makes other requests than the next: two lengths, lengths beside chunks, chunks that are none,
 * line breaks that are none. What the upstream receives is framed by its client as RFC 9112 says, and whoever comes next
 * finds nothing of it in front of his own request.
 */
export const smuggling = fuzzTarget('smuggling', 2, ['some relayed', 'none relayed'], async () => {
  const stage = await openStage({ profiles: { default: { window: { tokens: 100_000 } } } })
  return {
    arbitrary: attack,
    check: async (text) => {
      await stage.begin()
      const bytes = Buffer.from(text, 'latin1')
      const { framed, end: endOfFramed } = framedIn(bytes)
      const methods = framed.map(({ method }) => method)
      const connection = await connectRaw(stage.port())
      connection.write(bytes)
      // The next clients come while its connection is open, and after it is gone.
      const received = [...(await stage.afterwards())]
      // What is behind them is refused, whatever it is.
      const answers = connection.answers([...methods, text.startsWith('HEAD ', endOfFramed) ? 'HEAD' : 'GET'])
      const isCut = connection.isClosed()
      connection.destroy()
      received.push(...(await stage.afterwards()))

      const left = [...framed]
      for (const request of received) {
        const at = left.findIndex((one) => isSame(one, request))
        if (at === -1) throw new Error(`a request that nobody framed: ${shown(request)}`)
        left.splice(at, 1)
      }
      const broken = answers.find(({ code, status }) => code !== null && status >= 500)
      if (broken !== undefined) throw new Error(`${broken.startLine} ${broken.body.toString()}`)
      return `${received.length === 0 ? 'none' : 'some'} relayed, ${endOf(answers, isCut)}`
    },
    close: stage.close,
  }
})

const framings = texts`
  Content-Length: 5 ¦ Content-Length: 0 ¦ Content-Length: 43 ¦ Content-Length: 05 ¦ Content-Length: +5
  Content-Length: 5, 5 ¦ Content-Length: 5, 6 ¦ Content-Length: -1 ¦ Content-Length: 0x5
  Content-Length: 5 5 ¦ Content-Length: 5\u0000 ¦ Content-Length: ¦ Content-Length: 1e1
  Content-Length: 99999999999999999999 ¦ Content-Length : 5 ¦ \u0020Content-Length: 5
  Content-Length\t: 5 ¦ content-length: 6 ¦ Content_Length: 5 ¦ Transfer-Encoding: chunked
  transfer-encoding: CHUNKED ¦ Transfer-Encoding: xchunked ¦ Transfer-Encoding:chunked
  Transfer-Encoding : chunked ¦ \u0020Transfer-Encoding: chunked ¦ Transfer-Encoding:\u000bchunked
  Transfer-Encoding:\tchunked ¦ Transfer-Encoding: chunked, identity ¦ Transfer-Encoding: identity
  Transfer-Encoding: gzip, chunked ¦ Transfer-Encoding: identity, chunked
  Transfer-Encoding: chunked;q=1 ¦ Transfer-Encoding: "chunked" ¦ Transfer-Encoding:
  Transfer-Encoding:\r\n chunked ¦ Transfer-Encoding\r\n: chunked ¦ X: y\nTransfer-Encoding: chunked
  X: y\rTransfer-Encoding: chunked ¦ X: y\r\n\tz ¦ Expect: 100-continue ¦ Connection: Content-Length
  Connection: Transfer-Encoding ¦ Connection: close ¦ Connection: Upgrade\r\nUpgrade: h2c
  Trailer: X-Evil ¦ TE: trailers ¦ X-HTTP-Method-Override: PUT
`

const inner = 'GET /v1/inner HTTP/1.1\r\nHost: localhost\r\n\r\n'

const bodies = [
  '',
  ...texts`
    hello ¦ hello! ¦ ${inner} ¦ 0\r\n\r\n${inner} ¦ 0\r\n\r\n ¦ 5\r\nhello\r\n0\r\n\r\n
    5\r\nhello\r\n0\r\n\r\n${inner} ¦ 5;a=b\r\nhello\r\n0\r\n\r\n ¦ 5 ; a\r\nhello\r\n0\r\n\r\n
    5\t\r\nhello\r\n0\r\n\r\n ¦ 5\nhello\n0\n\n ¦ 5\rhello\r0\r\r ¦ 0x5\r\nhello\r\n0\r\n\r\n
    +5\r\nhello\r\n0\r\n\r\n ¦ -5\r\nhello\r\n0\r\n\r\n ¦ 5\r\nhelloX\r\n0\r\n\r\n
    6\r\nhello\r\n0\r\n\r\n ¦ FFFFFFFFFFFFFFFF6\r\nhello\r\n0\r\n\r\n
    00000000000000000005\r\nhello\r\n0\r\n\r\n ¦ \r\n5\r\nhello\r\n0\r\n\r\n ¦ G\r\n\r\n
    0\r\nX-Evil: 1\r\n\r\n ¦ 0\r\nTransfer-Encoding: chunked\r\n\r\n${inner}
    0\r\nContent-Length: 44\r\n\r\n ¦ 0\r\n X: y\r\n\r\n ¦ 0\r\nX\r\n\r\n
    5;a="\r\n"\r\nhello\r\n0\r\n\r\n ¦ 5;\r\nhello\r\n0\r\n\r\n ¦ 5;a\nhello\r\n0\r\n\r\n
    2b\r\n${inner}\r\n0\r\n\r\n ¦ 0;\r\n\r\n ¦ 0\n\r\n ¦ 0\r\n\n ¦ 5\r\nhello\r\n0\r\n${inner}
    5\r\nhel ¦ 5 ¦ 0\r\n
  `,
]

const part = fc
  .record({
    method: fc.constantFrom('POST', 'GET', 'HEAD', 'PUT', 'OPTIONS'),
    target: fc.constantFrom('/v1/outer', '/v1/chat/completions', '/v1/embeddings'),
    version: anyOf(
      [9, fc.constant('HTTP/1.1')],
      fc.constantFrom('HTTP/1.0', 'HTTP/0.9', 'HTTP/1.2', 'http/1.1'),
    ),
    lines: upTo(3, fc.constantFrom(...framings)),
    breakWith: anyOf([12, fc.constant('\r\n')], fc.constantFrom('\n', '\r', '\r\r\n', '\n\r')),
    body: fc.constantFrom(...bodies),
  })
  .map(({ method, target, version, lines, breakWith, body }) => {
    const head = [`${method} ${target} ${version}`, 'Host: localhost', ...lines, '', ''].join(breakWith)
    return head + body
  })

/** With one thing that is odd, or none. */
const nearlyGood = fc
  .tuple(fc.constantFrom(...framings), fc.constantFrom('hello', '5\r\nhello\r\n0\r\n\r\n', ''))
  .map(([framing, body]) => `POST /v1/outer HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n${body}`)

/** Requests on one connection, and what may be left of one. */
const attack = fc
  .tuple(
    fc.constantFrom('', '', '', '\r\n', '\n', ' ', '\u0000', '\r\n\r\n\r\n'),
    fc.array(fc.oneof(part, nearlyGood), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', inner, 'GET /v1/cut HTTP/1.1\r\nX: ', 'nonsense\r\n\r\n', '\r\n'),
  )
  .map(([before, parts, after]) => before + parts.join('') + after)

type Framed = Pick<Received, 'method' | 'target' | 'body'>

/** The requests that a client has framed in these bytes, and where the first that is none begins. */
function framedIn(bytes: Buffer): { readonly framed: readonly Framed[]; readonly end: number } {
  const framed: Framed[] = []
  let at = 0
  while (at < bytes.length) {
    // RFC 9112 section 2.2: empty lines in front of a request are passed over, and a line may end with a bare LF.
    if (/[\r\n]/.test(bytes.toString('latin1', at, at + 1))) {
      at += 1
      continue
    }
    const reading = readRequest(bytes, at)
    if (reading.kind !== 'message') break
    const { startLine, body, end } = reading.message
    const [method = '', target = ''] = startLine.split(' ')
    framed.push({ method, target: `/base${target}`, body })
    at = end
  }
  return { framed, end: at }
}

function isSame(one: Framed, other: Framed): boolean {
  return one.method === other.method && one.target === other.target && one.body.equals(other.body)
}

function shown({ startLine, headers, body }: Received): string {
  return JSON.stringify([startLine, headers, body.toString('latin1').slice(0, 200)])
}

function endOf(answers: readonly Answer[], isCut: boolean): string {
  const last = answers.at(-1)
  if (last === undefined) return isCut ? 'cut' : 'waits for more'
  return last.code === null ? `${last.status}` : `${last.status} ${last.code}`
}
