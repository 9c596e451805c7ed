import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { adminPlace } from '../admin/ask-admin.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { closeAll, freePort, listen } from '../support/free-port.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { completion, fakeUpstream } from '../support/fake-upstream.ts'
import { output, serve } from './program.ts'

const body = chatOf([{ role: 'user', content: 'hello' }], { model: 'gpt-4o' })

test('foldgate status finds the one that runs: 0 if all is well, 1 with each line if not, 2 if none is there', async () => {
  const upstream = await fakeUpstream(completion('fine'))
  const cwd = await temporaryFolder({})
  const { port } = await adminPlace()
  const args = ['--upstream', upstream.url, '--admin-port', String(port)]
  const foldgate = await serve(args, { cwd })
  await postChat(foldgate.url, body)
  const address = `http://127.0.0.1:${port}/`
  const well = `${address}: All well\n`
  // It has said where it listens before it says so to others.
  await expect.poll(async () => (await output(['status'], { cwd })).stdout).toBe(well)
  expect(await output(['status'], { cwd })).toEqual({ code: 0, stdout: well, stderr: '' })

  await upstream.close()
  expect((await postChat(foldgate.url, body)).status).toBe(502)
  const told = await output(['status', '--port', foldgate.port], { cwd })
  expect([told.code, told.stderr]).toEqual([1, ''])
  expect(told.stdout).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/: 1 thing is not well\n- 1 of the last 2 requests failed: default \(http:\S+\/v1\) cannot be reached since [\d:]+ UTC: check that it runs and that --upstream names it\n$/,
  )
  const asJson = await output(['status', '--admin-port', String(port), '--json'], { cwd })
  expect([asJson.code, JSON.parse(asJson.stdout)]).toMatchObject([
    1,
    { address, well: false, troubles: [{ kind: 'upstream', since: expect.any(String) }] },
  ])

  foldgate.child.kill('SIGKILL')
  await foldgate.ended
  const gone = await output(['status', '--admin-port', String(port)], { cwd })
  expect([gone.code, gone.stdout]).toEqual([2, ''])
  expect(gone.stderr).toContain(`no Foldgate answers at http://127.0.0.1:${port}/: start one`)
  const broken = await output(['status', '--admin-port', 'many'], { cwd })
  expect([broken.code, broken.stderr]).toEqual([2, expect.stringMatching(/^--admin-port: /)])
  // Its code 1 said that something is not well.
  const misused = await output(['status', '--keep'], { cwd })
  expect([misused.code, misused.stderr]).toEqual([
    2,
    expect.stringContaining('--keep: is no flag of "status"'),
  ])
})

test('a store that cannot be opened is told, although such a Foldgate leaves no word of itself', async () => {
  await using upstream = await fakeUpstream(completion('fine'))
  const cwd = await temporaryFolder({})
  const { port } = await adminPlace()
  const store = `redis://somebody:PLANTED@127.0.0.1:${await freePort()}`
  const args = ['--upstream', upstream.url, '--admin-port', String(port), '--store', store]
  await serve(args, { cwd })
  const { code, stdout } = await output(['status'], { cwd, env: { FOLDGATE_ADMIN_PORT: String(port) } })
  expect(code).toBe(1)
  expect(stdout).toMatch(/^- records are kept in memory, and end with the process, since .*ECONNREFUSED/m)
  expect(stdout).not.toContain('PLANTED')
})

test('the admin token goes to the port that its user names, and what answers there otherwise is no status', async () => {
  const seen: (string | undefined)[] = []
  const server = createServer((incoming, outgoing) => {
    seen.push(incoming.headers.authorization)
    outgoing.end('<html>')
  })
  onTestFinished(() => closeAll(server))
  const port = await listen(server)
  const settings = { admin: { port, token_env: 'ADMIN_TOKEN' } }
  const cwd = await temporaryFolder({ 'foldgate.yaml': JSON.stringify(settings) })
  const env = { ADMIN_TOKEN: 'token-of-a-test' }
  const unnamed = await output(['status'], { cwd, env })
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('answered 200, and no status')])
  await output(['status', '--admin-port', String(port)], { cwd, env })
  expect(seen).toEqual([undefined, 'Bearer token-of-a-test'])
})

// What a client called its model reached the terminal, which does what it says; and it could not be asked without the keys.
test('it is asked without the keys that the one that runs has, and what it says is only shown', async () => {
  const what = 'the window of \u001b]0;owned\u0007\nm is a guess'
  const status = {
    well: false,
    troubles: [{ kind: 'window', what, since: 'then\r', advice: 'set \u202eit' }],
  }
  const seen: (string | undefined)[] = []
  const server = createServer((incoming, outgoing) => {
    seen.push(incoming.headers.authorization)
    outgoing.end(JSON.stringify({ status }))
  })
  onTestFinished(() => closeAll(server))
  const port = await listen(server)
  const settings = {
    upstreams: { default: { api_key_env: 'KEY_OF_THE_SERVER' } },
    admin: { port, token_env: 'ADMIN_TOKEN' },
  }
  const cwd = await temporaryFolder({ 'foldgate.yaml': JSON.stringify(settings) })
  const told = await output(['status', '--admin-port', String(port)], {
    cwd,
    env: { ADMIN_TOKEN: 'its-token' },
  })
  expect(told).toEqual({
    code: 1,
    stdout:
      `http://127.0.0.1:${port}/: 1 thing is not well\n` +
      '- the window of \\u001b]0;owned\\u0007\\u000am is a guess since then\\u000d UTC: set \\u202eit\n',
    stderr: '',
  })
  expect(seen).toEqual(['Bearer its-token'])
  const unnamed = await output(['status'], { cwd })
  expect(unnamed.stdout).toContain(`http://127.0.0.1:${port}/: 1 thing`)
})
