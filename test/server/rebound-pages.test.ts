import { afterAll, beforeAll, expect, test } from 'vitest'
import { completion, fakeUpstream, type FakeUpstream } from '../support/fake-upstream.ts'
import { startFoldgate, type RunningFoldgate } from '../support/foldgate.ts'
import { rawExchange } from '../support/raw-client.ts'

// A model server on this machine, Ollama say, refuses a page whose name was re-bound to it, by the `Host` that the
// browser sends. Behind a Foldgate on loopback that protection was gone while no key was held: the page's name was
// relayed as the upstream's own. A page of any site could likewise post a conversation as `text/plain`, which needs no
// preflight, and have this machine compute, or its memory filled.

let upstream: FakeUpstream
let bare: number
const running: RunningFoldgate[] = []

beforeAll(async () => {
  upstream = await fakeUpstream(completion('fine'))
  bare = await startWith({})
})

afterAll(async () => {
  for (const foldgate of running) await foldgate.close()
  await upstream.close()
})

async function startWith(settings: object, env: Record<string, string> = {}): Promise<number> {
  const foldgate = await startFoldgate({ upstream: upstream.url, settings, env })
  running.push(foldgate)
  return foldgate.listening.port
}

const body = '{"model":"m","messages":[{"role":"user","content":"hi"}]}'

/** Posts as a browser would; the status, the error and what reached the upstream. */
async function post(port: number, lines: readonly string[], method = 'POST', path = '/v1/chat/completions') {
  const before = upstream.requests.length
  const head = [`${method} ${path} HTTP/1.1`, ...lines, 'Connection: close', `Content-Length: ${body.length}`]
  const answer = await rawExchange(port, `${head.join('\r\n')}\r\n\r\n${body}`)
  const status = Number(answer.statusLine.split(' ')[1])
  const said = status < 400 ? {} : JSON.parse(answer.body.toString())
  // Below `/api/` the error is a text, with its code beside it: Ollama's clients show no other.
  const { code, message } = typeof said.error === 'object' ? said.error : said
  return { status, code, message, sent: upstream.requests.length - before }
}

const simple = 'Content-Type: text/plain;charset=UTF-8'
const passed = { status: 200, sent: 1 }
const refused = (code: string) => ({ status: 403, code, sent: 0 })

test.each([
  ['POST', '/v1/chat/completions'],
  ['POST', '/api/generate'],
  ['DELETE', '/api/delete'],
  ['GET', '/v1/models'],
])('a page that had its name re-bound to this machine gets nothing by %s %s', async (method, path) => {
  // To its browser it is one site: no header tells but the name.
  const page = ['Origin: http://evil.example:3653', 'Sec-Fetch-Site: same-origin', simple]
  const got = await post(bare, ['Host: evil.example:3653', ...page], method, path)
  expect(got).toMatchObject(refused('host_not_allowed'))
  const foreign = await post(bare, ['Host: localhost', simple, 'Origin: https://evil.example'], method, path)
  expect(foreign).toMatchObject(refused('origin_not_allowed'))
})

const [name, origin] = ['host.docker.internal', 'chrome-extension://abc']
test.each([
  [name, [`Host: ${name}:3653`], 'hosts', { hosts: [name] }],
  [origin, ['Host: localhost', `Origin: ${origin}`], 'cors.origins', { cors: { origins: [origin] } }],
])('an operator who wants %s reads what to add', async (wanted, lines, setting, settings) => {
  const { message } = await post(bare, lines)
  expect(message).toContain(`"${wanted}"`)
  expect(message).toContain(`${setting} in foldgate.yaml`)
  expect(await post(await startWith(settings), lines)).toMatchObject(passed)
})

test('off loopback any name and page is served', async () => {
  const port = await startWith({ host: '0.0.0.0' })
  expect(await post(port, ['Host: foldgate:3653', 'Origin: http://a'])).toMatchObject(passed)
})

test('client keys do not lift the guards', async () => {
  const port = await startWith({ client_keys: [{ name: 'a', key_env: 'A' }] }, { A: 'fg-a' })
  const key = 'Authorization: Bearer fg-a'
  expect(await post(port, ['Host: evil.example', key])).toMatchObject({ status: 403, sent: 0 })
  const page = ['Host: localhost', 'Origin: http://a', key]
  expect(await post(port, page)).toMatchObject({ status: 403, sent: 0 })
  expect(await post(port, ['Host: localhost', key])).toMatchObject(passed)
})
