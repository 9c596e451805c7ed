import * as fc from 'fast-check'
import { openStage } from '../stage.ts'
import { fuzzTarget } from '../target.ts'
import { connectRaw } from '../wire/raw-exchange.ts'
import { openRecordingUpstream, REPLY } from '../wire/recording-upstream.ts'
import { anyOf, texts, upTo } from '../arbitrary.ts'

/**
 * Request targets that may lead elsewhere: to another host, out of the upstream's path, into a header. They are refused,
 * or arrive below the upstream's path byte for byte; a server that nobody configured hears nothing.
 */
export const paths = fuzzTarget('paths', 2, ['relayed', '400 path_not_allowed'], async () => {
  const decoy = await openRecordingUpstream()
  const stage = await openStage({ profiles: { default: { window: { tokens: 100_000 } } } })
  return {
    arbitrary: fc.tuple(fc.constantFrom('GET', 'POST', 'DELETE', 'OPTIONS'), requestTarget(decoy.port)),
    check: async ([method, target]) => {
      await stage.begin()
      const connection = await connectRaw(stage.port())
      const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`
      connection.write(Buffer.from(head, 'latin1'))
      const answers = await connection.wait([method])
      connection.destroy()
      const received = await stage.afterwards()
      if (decoy.connections() > 0) throw new Error('another server was called')
      const [answer] = answers
      if (answer === undefined || answers.length !== 1) throw new Error(`${answers.length} answers`)
      // Blanks in it make another request line of it.
      const [, asked = ''] = /^\S+ +(\S+) +HTTP\/1\.[01]$/.exec(head.split('\r\n')[0] ?? '') ?? []
      const expected = targetAtUpstream(asked)
      if (answer.code === null) {
        if (/^\/(?:healthz|readyz)(?:\?|$)/.test(asked) && received.length === 0) return 'probe'
        if (expected === null) throw new Error(`let through as ${received[0]?.startLine}`)
        const [only] = received
        if (answer.body.toString() !== REPLY || received.length !== 1 || only === undefined)
          throw new Error(`${answer.startLine}, sent on ${received.length} times`)
        if (only.target !== expected) throw new Error(`arrived as ${only.target}, not as ${expected}`)
        return 'relayed'
      }
      if (received.length > 0) throw new Error(`${answer.code}, but sent on as ${received[0]?.startLine}`)
      if (answer.status >= 500) throw new Error(`${answer.startLine} ${answer.body.toString()}`)
      if (expected !== null && answer.code !== 'unknown_upstream' && isPlain(target))
        throw new Error(`${answer.startLine}, though it leads nowhere else`)
      return `${answer.status} ${answer.code}`
    },
    close: async () => {
      await stage.close()
      await decoy.close()
    },
  }
})

const pieces = texts`
    / ¦ // ¦ \\ ¦ /\\ ¦ . ¦ .. ¦ ... ¦ /./ ¦ /../ ¦ /.. ¦ ..; ¦ /.;/ ¦ ;a=b ¦ ? ¦ # ¦ @ ¦ : ¦ * ¦ %2e
    %2E ¦ %2f ¦ %5c ¦ %252e ¦ %25 ¦ %00 ¦ %0d%0a ¦ %20 ¦ %c0%af ¦ %u002e ¦ % ¦ %zz ¦ %ff ¦ v1 ¦ u
    default ¦ nobody ¦ healthz ¦ readyz ¦ chat/completions ¦ models ¦ a ¦ ~ ¦ - ¦ + ¦ &key=k ¦ \t
    \u0020 ¦ \r ¦ \n ¦ \r\n ¦ \u0000 ¦ \u007f ¦ \u0080 ¦ \u00e9 ¦ \u00ff
  `

function requestTarget(decoyPort: number): fc.Arbitrary<string> {
  const host = `127.0.0.1:${decoyPort}`
  const start = fc.constantFrom(
    '',
    ...texts`
      /v1/ ¦ / ¦ /u/default/v1/ ¦ /u/default/ ¦ /u/root/ ¦ /u/root/v1/ ¦ /u/root/v1//${host} ¦ /u/root//${host} ¦ /u/nobody/ ¦ /v1 ¦ /u/ ¦ http://${host}/
      https://${host}/v1/ ¦ //${host}/ ¦ /\\${host}/ ¦ /v1//${host}/ ¦ /u/default//${host}/ ¦ @${host}/
      /@${host}/ ¦ /%2f%2f${host}/ ¦ /%2f/${host}/ ¦ ${host} ¦ HTTP://${host} ¦ /http://${host}/
    `,
  )
  return anyOf(
    [8, fc.tuple(start, upTo(8, fc.constantFrom(...pieces))).map((parts) => parts.flat().join(''))],
    fc
      .tuple(start, fc.constantFrom(...pieces), fc.constantFrom(100, 5_000, 30_000))
      .map(([first, piece, times]) => first + piece.repeat(times)),
    fc.uint8Array({ maxLength: 12 }).map((bytes) => `/${Buffer.from(bytes).toString('latin1')}`),
  )
}

/** What has to arrive; null where nothing may. Written apart from `upstream/target.ts`, so that a mistake there is seen. */
function targetAtUpstream(target: string): string | null {
  if (!target.startsWith('/') || target.startsWith('//')) return null
  if (!/^[\u0021-\u007e\u0080-\u00ff]*$/.test(target) || target.includes('#')) return null
  const [path = ''] = target.split('?')
  const query = target.slice(path.length)
  if (path.includes('\\') || isResolvable(path)) return null
  const isNamed = path.startsWith('/u/') && path.length > 3 && path[3] !== '/'
  const [, name = 'default'] = isNamed ? (/^\/u\/(default|root)(?=\/|$)/.exec(path) ?? []) : ['']
  if (isNamed && !new RegExp(`^/u/${name}(?:/|$)`).test(path)) return null
  const own = isNamed ? path.slice(`/u/${name}`.length) || '/' : path
  if (own.startsWith('//')) return null
  const rest = own === '/v1' || own.startsWith('/v1/') ? own.slice(3) : own
  const base = rest === own && servedAtRoot.test(own) ? '/base' : '/base/v1'
  const joined = name === 'root' ? rest || '/' : base + rest
  // A credential of the client's goes to the default upstream only.
  return joined.startsWith('//') ? null : joined + (name === 'root' ? withoutKey(query) : query)
}

function withoutKey(query: string): string {
  const pairs = query.slice(1).split('&')
  const others = pairs.filter((pair) => pair.split('=')[0] !== 'key')
  if (others.length === pairs.length) return query
  return others.length === 0 ? '' : `?${others.join('&')}`
}

/** Of what servers serve at their root, what is tried here. */
const servedAtRoot = /^\/(?:(?:api|health|healthz|readyz|metrics|props|slots$|tokenize)(?:\/|$)|$)/

/** Whether some server would find a dot segment in it, however often it decodes. */
function isResolvable(path: string): boolean {
  for (let decoded = path; ;) {
    const segments = decoded.split(/[/\\]/).map((segment) => segment.split(';')[0])
    if (segments.some((segment) => segment === '.' || segment === '..')) return true
    const further = decoded.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    if (further === decoded) return false
    decoded = further
  }
}

/** Whether it has nothing in it that Node's parser may refuse: non-ASCII and more than headers may hold. */
function isPlain(target: string): boolean {
  return target.length < 60_000 && /^[\u0021-\u007e]*$/.test(target)
}
