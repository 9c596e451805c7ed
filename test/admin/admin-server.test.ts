import { describe, expect, onTestFinished, test } from 'vitest'
import { createAdminServer, type AdminServerOptions } from '../../src/admin/admin-server.ts'
import { listen } from '../../src/proxy/wire/listen.ts'
import { rawExchange, type RawAnswer } from '../proxy/raw-client.ts'
import { completion } from '../support/fake-upstream.ts'
import { standWith } from '../support/stand.ts'
import { adminPlace, askAdmin, deleteConversation } from './ask-admin.ts'

const id = 'abcdefgh-_012345'

/** An admin listener on a free port; what it deletes is written down. */
async function adminServer(options: Partial<AdminServerOptions> = {}) {
  const deleted: string[] = []
  const server = createAdminServer({
    headersMs: 60_000,
    isLoopback: true,
    hosts: [],
    token: null,
    deleteConversation: async (conversation) => void deleted.push(conversation),
    ...options,
  })
  const names = { portFlag: '--admin-port', portVariable: 'FOLDGATE_ADMIN_PORT', hostFlag: '--admin-host' }
  const { port } = await listen(server, { host: '127.0.0.1', port: 0, ...names })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { deleted, port, origin: `http://127.0.0.1:${port}` }
}

function codeOf(answer: RawAnswer): string | undefined {
  return /"code":"(\w+)"/.exec(answer.body.toString('utf8'))?.[1]
}

/** A deletion with these header lines, spelt out: fetch sets `Host` and `Origin` itself. */
function deletion(...lines: readonly string[]): string {
  return `DELETE /conversations/${id} HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}Connection: close\r\n\r\n`
}

describe('only what is listed answers', () => {
  test('a deletion', async () => {
    const admin = await adminServer()
    const answer = await deleteConversation(admin.origin, id)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.header('cache-control')).toBe('no-store')
    expect(admin.deleted).toEqual([id])
  })

  test.each([
    ['GET', '/'],
    ['GET', `/conversations/${id}`],
    ['POST', `/conversations/${id}`],
    ['DELETE', '/conversations'],
    ['DELETE', '/conversations/'],
    ['DELETE', `/conversations/${id}/more`],
    ['DELETE', `/v1/conversations/${id}`],
    ['GET', '/healthz'],
    ['GET', '/metrics'],
    ['POST', '/v1/chat/completions'],
    ['OPTIONS', '/'],
  ])('%s %s is a 404 in the shape of all errors', async (method, path) => {
    const admin = await adminServer()
    const answer = await askAdmin(admin.origin, path, { method })
    expect([answer.status, answer.code]).toEqual([404, 'unknown_path'])
    expect(answer.header('content-type')).toBe('application/json')
    expect(answer.header('cache-control')).toBe('no-store')
    expect(admin.deleted).toEqual([])
  })

  // A URL parser would resolve them to the path of a deletion.
  test.each([`/x/../conversations/${id}`, `/x/%2e%2e/conversations/${id}`, `http://h/conversations/${id}`])(
    '%s is refused',
    async (target) => {
      const admin = await adminServer()
      const answer = await rawExchange(
        admin.port,
        `DELETE ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      )
      expect(codeOf(answer)).toBe('path_not_allowed')
      expect(admin.deleted).toEqual([])
    },
  )

  test('no upload: neither a large body nor one of unknown length; large headers neither', async () => {
    const admin = await adminServer()
    const large = await askAdmin(admin.origin, `/conversations/${id}`, {
      method: 'DELETE',
      body: 'x'.repeat(100_000),
    })
    expect([large.status, large.code]).toEqual([413, 'body_too_large'])
    const chunked = await rawExchange(
      admin.port,
      deletion('Host: localhost', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    )
    expect(codeOf(chunked)).toBe('body_too_large')
    const headers = await rawExchange(
      admin.port,
      deletion('Host: localhost', `X-Large: ${'x'.repeat(20_000)}`),
    )
    expect(codeOf(headers)).toBe('headers_too_large')
    expect(admin.deleted).toEqual([])
    // Some clients send an empty object with everything.
    const small = await askAdmin(admin.origin, `/conversations/${id}`, { method: 'DELETE', body: '{}' })
    expect(small.status).toBe(204)
  })

  test('a defect says nothing of itself', async () => {
    const admin = await adminServer({
      deleteConversation: async () => {
        throw new TypeError('a secret detail')
      },
    })
    const answer = await deleteConversation(admin.origin, id)
    expect([answer.status, answer.code]).toEqual([500, 'internal_error'])
    expect(answer.text).not.toContain('secret')
  })
})

describe('pages in the browser of the operator', () => {
  test.each([
    [['Host: evil.example'], 'host_not_allowed'],
    [['Host: 127.0.0.1.evil.example'], 'host_not_allowed'],
    [['Host: 203.0.113.7'], 'host_not_allowed'],
    [[], 'malformed_request'],
    [['Host: localhost', 'Origin: https://evil.example'], 'origin_not_allowed'],
    [['Host: localhost', 'Origin: null'], 'origin_not_allowed'],
    // Another program's page on this machine.
    [['Host: localhost:3654', 'Origin: http://localhost:3000'], 'origin_not_allowed'],
    [['Host: localhost', 'Sec-Fetch-Site: cross-site'], 'origin_not_allowed'],
  ])('%j is refused: %s', async (lines, code) => {
    const admin = await adminServer({ token: 'right' })
    const answer = await rawExchange(admin.port, deletion(...lines, 'Authorization: Bearer right'))
    expect(codeOf(answer)).toBe(code)
    expect(admin.deleted).toEqual([])
  })

  test.each([
    [['Host: localhost:3654']],
    [['Host: [::1]:3654']],
    [['Host: foldgate.test']],
    [['Host: localhost:3654', 'Origin: http://localhost:3654']],
  ])('%j is not: names of this machine, those in hosts, its own pages', async (lines) => {
    const admin = await adminServer({ hosts: ['foldgate.test'] })
    const answer = await rawExchange(admin.port, deletion(...lines))
    expect(answer.statusLine).toContain('204')
  })

  test('off loopback it goes by whatever name, and pages of other sites stay outside', async () => {
    const admin = await adminServer({ isLoopback: false, token: 'right' })
    const right = 'Authorization: Bearer right'
    const named = await rawExchange(admin.port, deletion('Host: foldgate.lan', right))
    expect(named.statusLine).toContain('204')
    const foreign = await rawExchange(
      admin.port,
      deletion('Host: foldgate.lan', 'Origin: https://evil.example', right),
    )
    expect(codeOf(foreign)).toBe('origin_not_allowed')
  })
})

describe('the token', () => {
  test.each([
    ['none', {}],
    ['another', { authorization: 'Bearer wrong' }],
    ['the beginning of it', { authorization: 'Bearer righ' }],
    ['more than it', { authorization: 'Bearer right1' }],
    ['an empty one', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic right' }],
    ['no scheme', { authorization: 'right' }],
    ['another header', { 'x-api-key': 'right' }],
  ])('is wanted of every request, on loopback too: %s', async (_, headers) => {
    const admin = await adminServer({ token: 'right' })
    for (const path of [`/conversations/${id}`, '/nothing']) {
      const answer = await askAdmin(admin.origin, path, { method: 'DELETE', headers })
      expect([answer.status, answer.code]).toEqual([401, 'admin_token_required'])
      expect(answer.header('www-authenticate')).toBe('Bearer')
      expect(answer.text).toContain('admin.token_env')
    }
    expect(admin.deleted).toEqual([])
  })

  test('lets in who has it', async () => {
    const admin = await adminServer({ token: 'right' })
    for (const authorization of ['Bearer right', 'bearer  right'])
      expect((await deleteConversation(admin.origin, id, { authorization })).status).toBe(204)
    const nothing = await askAdmin(admin.origin, '/nothing', { headers: { authorization: 'Bearer right' } })
    expect(nothing.code).toBe('unknown_path')
  })
})

describe('beside the listener for clients', () => {
  test('nothing of it is reachable through their port', async () => {
    const place = await adminPlace()
    await using at = await standWith(completion('fine'), { flags: place.flags })
    const answer = await deleteConversation(at.url.replace(/\/v1$/, ''), id)
    // It is the upstream's path like any other.
    expect(answer.status).toBe(200)
    expect(at.upstream.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `DELETE /v1/conversations/${id}`,
    ])
  })

  test('it is there under its own port, and ends with the rest', async () => {
    const place = await adminPlace()
    await using at = await standWith(completion('fine'), { flags: place.flags })
    expect(at.foldgate.listening.admin).toEqual({ host: '127.0.0.1', port: place.port })
    expect((await deleteConversation(place.origin, id)).code).toBe('unknown_conversation')
    await at.foldgate.close()
    await expect(deleteConversation(place.origin, id)).rejects.toThrow('fetch failed')
  })

  test.each([
    ['a taken port', '127.0.0.1', /taken.*--admin-port \(FOLDGATE_ADMIN_PORT\)/],
    ['a host that is none of this machine', '203.0.113.7', /--admin-host/],
  ])('%s costs the admin listener, nothing else', async (_, host, trouble) => {
    const place = await adminPlace()
    await using first = await standWith(completion('fine'), { flags: place.flags })
    await using second = await standWith(completion('fine'), {
      flags: { ...place.flags, 'admin-host': host },
      settings: { admin: { token_env: 'TOKEN' } },
      env: { TOKEN: 'right' },
    })
    expect(first.foldgate.listening.admin).not.toBeNull()
    expect(second.foldgate.listening.admin).toBeNull()
    expect(second.foldgate.listening.adminTrouble).toMatch(trouble)
    expect((await fetch(`${second.url}/models`)).status).toBe(200)
    // The first one's is still there.
    expect((await deleteConversation(place.origin, id)).status).toBe(404)
  })

  test('port 0 is none', async () => {
    await using at = await standWith(completion('fine'), { flags: { 'admin-port': '0' } })
    expect(at.foldgate.listening).toMatchObject({ admin: null, adminTrouble: null })
  })
})
