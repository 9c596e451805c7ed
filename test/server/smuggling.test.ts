import { expect, test } from 'vitest'
import { bytes } from '../support/fake-upstream.ts'
import { rawExchange, type RawAnswer } from '../support/raw-client.ts'
import { proxyBefore } from './start-proxy.ts'

const HEAD = 'POST /v1/outer HTTP/1.1\r\nHost: localhost\r\n'
const INNER = 'GET /v1/inner HTTP/1.1\r\nHost: localhost\r\n\r\n'
const SIZE = INNER.length.toString(16)
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const outer = (body: string): string => `POST /v1/outer ${body}`
const inner = 'GET /v1/inner '

/** A server that reads a request's end elsewhere than the one behind it lets one client write another's request. */
async function afterwards(attack: string): Promise<{ answer: RawAnswer; received: readonly string[] }> {
  await using proxy = await proxyBefore(bytes('{}'))
  const answer = await rawExchange(proxy.port, attack)
  await fetch(`${proxy.origin}/v1/victim`, { method: 'POST', body: 'mine' })
  const received = proxy.upstream.requests.map(
    ({ method, url, body }) => `${method} ${url} ${body.toString()}`,
  )
  return { answer, received }
}

test.each<[string, string]>([
  ['a length before chunks (CL.TE)', `${HEAD}Content-Length: 6\r\n${CHUNKED}\r\n0\r\n\r\nG`],
  [
    'chunks before a length (TE.CL)',
    `${HEAD}${CHUNKED}Content-Length: 4\r\n\r\n${SIZE}\r\n${INNER}\r\n0\r\n\r\n`,
  ],
  ['two lengths', `${HEAD}Content-Length: 0\r\nContent-Length: ${INNER.length}\r\n\r\n${INNER}`],
  ['the same length twice', `${HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
  ['a list of lengths', `${HEAD}Content-Length: 2, 2\r\n\r\n{}`],
  ['a length with a sign', `${HEAD}Content-Length: +2\r\n\r\n{}`],
  ['a negative length', `${HEAD}Content-Length: -1\r\n\r\n{}`],
  ['a length in hexadecimal', `${HEAD}Content-Length: 0x2\r\n\r\n{}`],
  ['a length beyond all numbers', `${HEAD}Content-Length: 99999999999999999999\r\n\r\n{}`],
  ['chunks that are not quite chunks (TE.TE)', `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['chunks twice', `${HEAD}${CHUNKED}${CHUNKED}\r\n0\r\n\r\n`],
  ['chunks, then nothing', `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ['chunks in quotes', `${HEAD}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n`],
  ['chunks behind a tabulator', `${HEAD}Transfer-Encoding:\u000bchunked\r\n\r\n0\r\n\r\n`],
  ['a blank before the colon', `${HEAD}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
  ['a folded header', `${HEAD}X: y\r\n ${CHUNKED}Content-Length: 2\r\n\r\n0\r\n\r\n`],
  ['a header behind a bare line feed', `${HEAD}X: y\n${CHUNKED}\r\n0\r\n\r\n`],
  ['a header behind a bare carriage return', `${HEAD}X: y\r${CHUNKED}\r\n0\r\n\r\n`],
  ['heads with bare line feeds', `${HEAD}Content-Length: 2\r\n\r\n{}`.replaceAll('\r\n', '\n')],
  ['a null character in a header', `${HEAD}X: \u0000\r\nContent-Length: 2\r\n\r\n{}`],
  ['a chunk size beyond all numbers', `${HEAD}${CHUNKED}\r\nFFFFFFFFFFFFFFFF2\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size with a sign', `${HEAD}${CHUNKED}\r\n+2\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size with a prefix', `${HEAD}${CHUNKED}\r\n0x2\r\n{}\r\n0\r\n\r\n`],
  ['a chunk longer than its size', `${HEAD}${CHUNKED}\r\n2\r\n{}X\r\n0\r\n\r\n`],
  ['a chunk with bare line feeds', `${HEAD}${CHUNKED}\r\n2\n{}\n0\n\n`],
  ['a length behind the chunks', `${HEAD}${CHUNKED}\r\n2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n`],
  ['a line feed in a chunk extension', `${HEAD}${CHUNKED}\r\n2;a\n{}\r\n0\r\n\r\n`],
])('%s: refused, and nothing of it reaches anybody', async (_, attack) => {
  const { answer, received } = await afterwards(attack)
  expect(answer.statusLine).toContain(' 400 ')
  expect(answer.body.toString()).toContain('"code":"malformed_request"')
  expect(received).toEqual(['POST /v1/victim mine'])
})

test.each<[string, string, string[]]>([
  ['requests in one piece', `${HEAD}Content-Length: 2\r\n\r\n{}${INNER}`, [outer('{}'), inner]],
  [
    'a body that looks like a request',
    `${HEAD}Content-Length: ${INNER.length}\r\n\r\n${INNER}`,
    [outer(INNER)],
  ],
  ['a request in a chunk', `${HEAD}${CHUNKED}\r\n${SIZE}\r\n${INNER}\r\n0\r\n\r\n`, [outer(INNER)]],
  ['chunk extensions', `${HEAD}${CHUNKED}\r\n2;a=b;c="d"\r\n{}\r\n0;x\r\n\r\n`, [outer('{}')]],
  ['trailers', `${HEAD}${CHUNKED}\r\n2\r\n{}\r\n0\r\nX-Odd: 9\r\n\r\n`, [outer('{}')]],
  ['empty lines in between', `${HEAD}Content-Length: 2\r\n\r\n{}\r\n\r\n${INNER}`, [outer('{}'), inner]],
])('%s: each request arrives once, as its client framed it', async (_, attack, expected) => {
  const { received } = await afterwards(
    `${attack}GET /v1/last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
  )
  // Requests of one connection are sent on beside each other.
  expect(received.toSorted()).toEqual([...expected, 'GET /v1/last ', 'POST /v1/victim mine'].toSorted())
})
