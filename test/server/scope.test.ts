import { describe, expect, test } from 'vitest'
import { createScopes } from '../../src/server/scope.ts'
import { parseTarget } from '../../src/upstream/target.ts'

type Given = {
  readonly headers?: readonly string[]
  readonly query?: string
  readonly clientKeyName?: string | null
  readonly trusted?: string | null
}

function scopeOf({ headers = [], query = '', clientKeyName = null, trusted = null }: Given) {
  const scopes = createScopes({ secret: Buffer.alloc(32, 1), header: trusted })
  const target = parseTarget(`/v1/chat/completions${query}`)
  return scopes({
    incoming: { rawHeaders: [...headers], socket: { remoteAddress: '127.0.0.1' } },
    target,
    clientKeyName,
  })
}

/** A shared bearer token beside a key of one's own. */
const beside = (name: string, own: string): Given => ({ headers: [name, 'Bearer shared', 'x-api-key', own] })

const by = (token: string, tenant: string) =>
  scopeOf({ headers: ['authorization', `Bearer ${token}`, 'x-tenant', tenant], trusted: 'X-Tenant' })

const sent = (...headers: readonly string[]): Given => ({ headers })

// Only the first credential that was found made the scope. Behind a gateway whose clients share one
// `authorization` and are told apart by `x-api-key`, two tenants had one scope, and so one set of records and
// one learnt window.
describe('every credential tells whose state it is (P9)', () => {
  const shared = ['api-key', 'shared'] as const
  const twice = ['x-api-key', 'shared', 'x-api-key'] as const
  test.each<[string, Given, Given]>([
    ['another x-api-key', beside('authorization', 'ada'), beside('authorization', 'ben')],
    [
      'another key in the query',
      { headers: shared, query: '?key=ada' },
      { headers: shared, query: '?key=ben' },
    ],
    ['another key at Google', sent(...shared, 'x-goog-api-key', 'a'), sent(...shared, 'x-goog-api-key', 'b')],
    ['another credential after the same one in a header', sent(...twice, 'ada'), sent(...twice, 'ben')],
    ['another key after the same one in the query', { query: '?key=a&key=ada' }, { query: '?key=a&key=ben' }],
    ['one credential more', sent('authorization', 'Bearer shared'), beside('authorization', 'ada')],
    ['the same value in another place', sent('api-key', 'k'), sent('x-api-key', 'k')],
    ['alike when joined', sent('api-key', 'a', 'x-api-key', 'b'), sent('api-key', 'a"],["x-api-key","b')],
  ])('%s is another scope, and learns windows of its own', (_, one, other) => {
    const [first, second] = [scopeOf(one), scopeOf(other)]
    expect(first.scope).not.toBe(second.scope)
    expect(first.credential).not.toBe(second.credential)
    expect(scopeOf(one)).toEqual(first)
  })

  test('spelling of names, other headers, other parameters and cookies tell nothing', () => {
    const plain = scopeOf({ headers: ['authorization', 'Bearer k'], query: '?a=1' })
    const dressed = {
      headers: ['Cookie', 'session=2', 'AUTHORIZATION', 'bearer k', 'x-request-id', '7', 'x-api-key', ''],
      query: '?a=2&key=',
    }
    expect(scopeOf(dressed)).toEqual(plain)
  })

  test('no digest shows a credential', () => {
    const { scope, credential } = scopeOf({ headers: ['authorization', 'Bearer PLANTED'] })
    expect(scope + credential).not.toContain('PLANTED')
    expect([scope, credential].map((digest) => digest.length)).toEqual([22, 22])
  })
})

describe('what goes before credentials', () => {
  test('is the name of a client key', () => {
    const one = scopeOf({ headers: ['authorization', 'Bearer old'], clientKeyName: 'ada' })
    const other = scopeOf({ headers: ['x-api-key', 'new'], clientKeyName: 'ada' })
    expect(other).toEqual(one)
    expect(scopeOf({ clientKeyName: 'ben' }).scope).not.toBe(one.scope)
  })

  test('where a header is trusted, tokens that rotate are one scope and keep what was learnt', () => {
    // Each new token forgot the window that the one before had learnt, and asked the server a dozen questions.
    expect(by('first', 'ada')).toEqual(by('second', 'ada'))
    expect(by('first', 'ben').scope).not.toBe(by('first', 'ada').scope)
    expect(by('first', 'ben').credential).not.toBe(by('first', 'ada').credential)
  })
})
