import { once } from 'node:events'
import { createServer, request, type RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { closeAll, freePort, listen } from '../support/free-port.ts'
import { serve } from './program.ts'

/** A server that answers these paths with this status and body, all others with 404. */
async function server(
  answers: Readonly<Record<string, readonly [number, string]>>,
  otherwise: readonly [number, string] = [404, '{"error":{"message":"not found"}}'],
) {
  const seen: { url: string; authorization: string | undefined }[] = []
  const listener: RequestListener = ({ url = '', headers }, outgoing) => {
    seen.push({ url, authorization: headers.authorization })
    const [status, body] = answers[url] ?? otherwise
    // Status 0: it never answers.
    if (status > 0) outgoing.writeHead(status, { 'content-type': 'application/json' }).end(body)
  }
  const listening = createServer(listener)
  const port = await listen(listening)
  onTestFinished(() => closeAll(listening))
  return { origin: `http://127.0.0.1:${port}`, seen }
}

const list = [200, '{"object":"list","data":[{"id":"m","object":"model"}]}'] as const
const locked = [401, '{"error":{"message":"no key"}}'] as const

const under = (name: string, at: string, what: string, write: string) =>
  `the upstream "${name}" answers under /v1 only: ${at}/models is not there, and ${at}/v1/models ${what}: write ${write}`

// `--upstream http://127.0.0.1:11434` answered every request with Ollama's 404, and nothing said that `/v1` was missing.
test('a start tells which addresses lack their /v1 and where nothing listens, asks twice at most, and waits for none', async () => {
  const ollama = await server({ '/v1/models': list })
  const vllm = await server({ '/v1/models': locked })
  // LM Studio's way: 200 for everything.
  const studio = await server({ '/v1/models': list }, [200, '{"error":"Unexpected endpoint or method."}'])
  const page = await server({ '/v1/models': list }, [200, '<!doctype html><title>A page</title>'])
  const both = await server({ '/models': list, '/v1/models': list })
  const lockedAll = await server({}, locked)
  const neither = await server({})
  const right = await server({ '/v1/models': list })
  const mute = await server({}, [0, ''])
  const nobody = `http://127.0.0.1:${await freePort()}`
  const servers = { vllm, studio, page, both, 'locked-all': lockedAll, neither, mute }
  const addresses = [
    ...Object.entries(servers).map(([name, { origin }]) => [name, origin] as const),
    ['right', `${right.origin}/v1`] as const,
    ['nobody', `${nobody}/v1`] as const,
    // Asked of nobody: the address has its version, and is elsewhere.
    ['elsewhere', 'https://foldgate.invalid/v1'] as const,
  ].map(([name, url]) => [name, { url, forward_client_key: false }] as const)
  const settings = { upstreams: { default: { api_key_env: 'KEY' }, ...Object.fromEntries(addresses) } }
  const cwd = await temporaryFolder({ 'foldgate.yaml': JSON.stringify(settings) })
  const foldgate = await serve(['--upstream', ollama.origin], { cwd, env: { KEY: 'PLANTED' } })
  const lines = [
    under('default', ollama.origin, 'is there', `${ollama.origin}/v1 (--upstream)`),
    under('vllm', vllm.origin, 'wants a key', `${vllm.origin}/v1 (upstreams.vllm.url in foldgate.yaml)`),
    under('studio', studio.origin, 'is there', `${studio.origin}/v1 (upstreams.studio.url in foldgate.yaml)`),
    under('page', page.origin, 'is there', `${page.origin}/v1 (upstreams.page.url in foldgate.yaml)`),
    `nothing listens at ${nobody}/v1, the upstream "nobody": start the server, or name another address (upstreams.nobody.url in foldgate.yaml)`,
  ]
  await foldgate.said(/nothing listens/)
  for (const name of ['default', 'vllm', 'studio', 'page'])
    await foldgate.said(new RegExp(`"${name}\\\\" answers under`))
  for (const { seen } of [ollama, vllm, studio, page, neither, both, right])
    expect(seen.length).toBeLessThanOrEqual(2)
  // The key of its settings, which its requests would have, and to the other servers none.
  expect(new Set(ollama.seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer PLANTED']))
  expect(vllm.seen.map(({ authorization }) => authorization)).toEqual([undefined, undefined])

  // What is refused names its request and its client, without a query; an upgrade is no warning, and is told once.
  const headers = { 'user-agent': 'an-agent/1.0', host: 'evil.example' }
  const asked = { host: '127.0.0.1', port: foldgate.port, headers }
  const refused = request({ ...asked, path: '/v1/chat/completions?key=PLANTED', method: 'POST' }).end('{}')
  await once(refused, 'response')
  for (let time = 0; time < 2; time += 1) {
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' }
    const upgraded = request({ ...asked, path: '/v1/responses', headers: upgrade }).end()
    const [answer] = await once(upgraded, 'response')
    expect(answer.statusCode).toBe(426)
  }
  // One that does not answer keeps it from ending no more than from starting.
  foldgate.child.kill('SIGINT')
  expect(await foldgate.ended).toBe(0)
  const written = foldgate.stdout().trim().split('\n')
  const log = written.map((line) => JSON.parse(line))
  const warned = log.filter(({ level }) => level !== 'info')
  const refusals = warned.filter(({ message }) => message === 'a request was refused or failed')
  const told = {
    level: 'warn',
    message: 'a request was refused or failed',
    code: 'host_not_allowed',
    status: 403,
  }
  const whose = { request: 'POST /v1/chat/completions', client: '127.0.0.1', user_agent: 'an-agent/1.0' }
  expect(refusals).toEqual([{ time: expect.any(String), ...told, ...whose }])
  const troubles = warned.filter((line) => !refusals.includes(line)).map(({ message }) => message)
  expect([troubles.length, new Set(troubles)]).toEqual([lines.length, new Set(lines)])
  expect(log.filter(({ message }) => message.includes('WebSocket'))).toHaveLength(1)
  expect(foldgate.stdout()).not.toContain('PLANTED')
})
