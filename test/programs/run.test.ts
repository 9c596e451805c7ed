import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { output, runProgram, serve } from './program.ts'
import { completion, fakeUpstream } from '../support/fake-upstream.ts'
import { closeAll, freePort, listen } from '../support/free-port.ts'

/** A program that is started: asks as it is told to, says what it was answered, and ends. */
const agent = `
const base = process.env.OPENAI_BASE_URL
const filler = 'the newest of the old results, '.repeat(200)
const messages = [{ role: 'user', content: 'begin' }]
for (let at = 0; at < 30; at += 1) messages.push({ role: 'assistant', content: filler + at }, { role: 'user', content: 'on ' + at })
const ask = (url, headers, body) => fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
const first = await ask(base + '/chat/completions', { authorization: 'Bearer sk-one' }, { model: 'm', messages })
const second = await ask(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { 'x-api-key': 'sk-two' }, { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] })
console.log(first.status, first.headers.get('x-foldgate-action'), first.headers.get('x-foldgate-profile'), second.status)
process.exit(7)
`

const tight = { window: { tokens: 8000 }, clear: { enabled: false } }

/** A folder with these settings, and a home of its own beside it, as a user has. */
async function user(env: Readonly<Record<string, string>> = {}) {
  const cwd = await temporaryFolder({
    'foldgate.yaml': '{}',
    'profiles/tight.yaml': JSON.stringify(tight),
    'agent.mjs': agent,
    'home/.codex/config.toml': 'model_provider = "mine"\n',
    'home/.claude/settings.json': '{}',
  })
  const own = { HOME: join(cwd, 'home'), XDG_STATE_HOME: join(cwd, 'state'), PATH: process.env['PATH'] ?? '' }
  return { cwd, env: { ...own, ...env } }
}

async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const path = join(folder, name)
    hash.update(name)
    if ((await stat(path)).isFile()) hash.update(await readFile(path))
  }
  return hash.digest('hex')
}

const script = (source: string): readonly string[] => [process.execPath, '-e', source]

async function run(args: readonly string[], started: Awaited<ReturnType<typeof user>>) {
  const { code, stdout, stderr } = await output(['run', ...args], started)
  return { code, stdout, stderr, ended: [code, stdout], refused: [code, stderr] }
}

const theAgent = ['--', process.execPath, 'agent.mjs']

// A program that ended at once was followed by a second of silence: its model's window was still being asked for, at a server that
// was never to answer.
test('when a program starts nobody asks for its window any more', async () => {
  let openQuestions = 0
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === '/open') return void outgoing.end(`${openQuestions} open`)
    openQuestions += 1
    outgoing.on('close', () => (openQuestions -= 1))
  })
  const origin = `http://127.0.0.1:${await listen(server)}`
  onTestFinished(() => closeAll(server))
  const started = await user()
  const program = join(started.cwd, 'claude')
  await writeFile(
    program,
    `#!${process.execPath}\nfetch('${origin}/open').then(async (answer) => console.log(await answer.text()))\n`,
  )
  await chmod(program, 0o755)
  const { ended } = await run(['--upstream', `${origin}/v1`, '--model', 'm', '--', program], started)
  expect(ended).toEqual([0, '0 open\n'])
})

test("a program's requests go through Foldgate to where its environment had them go; its exit code is kept, and nothing of its home is touched", async () => {
  await using openAi = await fakeUpstream(completion('fine'))
  await using anthropic = await fakeUpstream(completion('fine'))
  const started = await user({ OPENAI_BASE_URL: openAi.url, ANTHROPIC_BASE_URL: anthropic.origin })
  const home = join(started.cwd, 'home')
  const before = await digestOf(home)
  const words = ['--profile', 'tight', '--admin-port', '0', process.execPath, 'agent.mjs']
  const ran = await run(words, started)
  expect(ran.ended).toEqual([7, '200 compacted tight 200\n'])
  const lines = ran.stderr.trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/^foldgate: 2 requests: 1 compacted; [\d,]+ of [\d,]+ prompt tokens saved/)
  expect(lines[1]).toMatch(
    /request by request: "npm start" .*message by message, the same command with --keep \("npm start -- run --keep …"\)/,
  )
  const asked = [...openAi.requests, ...anthropic.requests].map(({ url, headers }) =>
    [url, headers.authorization, headers['x-api-key']].join(' '),
  )
  expect(asked).toEqual(['/v1/chat/completions Bearer sk-one ', '/v1/messages  sk-two'])
  expect(await digestOf(home)).toBe(before)
  expect(await readdir(join(started.cwd, 'state', 'foldgate', 'running'))).toEqual([])
})

test('--upstream is for all that a program asks; two runs side by side share one store', async () => {
  await using upstream = await fakeUpstream(completion('fine'))
  const started = await user({ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' })
  const args = ['--upstream', upstream.url, ...theAgent]
  for (const each of await Promise.all([run(args, started), run(args, started)])) {
    expect(each.ended).toEqual([7, '200 relayed default 200\n'])
    expect(each.stderr).toContain('foldgate: 2 requests, sent as they came.')
  }
  const [chat, messages] = ['/v1/chat/completions', '/v1/messages']
  expect(upstream.requests.map(({ url }) => url).sort()).toEqual([chat, chat, messages, messages])
  // A later one shows what these did.
  const adminPort = await freePort()
  const later = await serve(['--upstream', upstream.url, '--admin-port', String(adminPort)], started)
  const answer = await fetch(`http://127.0.0.1:${adminPort}/conversations`)
  expect(await answer.json()).toMatchObject({ conversations: [{ requests: 2 }, { requests: 2 }] })
  // It is found by who wants to use it.
  const attached = await run(['--attach', ...theAgent], started)
  expect(attached.stdout).toBe('200 relayed default 200\n')
  expect(attached.stderr).toMatch(/^foldgate: attached to .*\nfoldgate: 2 requests, sent as they came\.\n$/)
  later.child.kill('SIGTERM')
})

test('signals reach the program, which decides; one that ends by a signal ends the run as shells tell it', async () => {
  const started = await user()
  const patient = `process.on('SIGTERM', () => { console.log('told'); process.exit(5) }); setInterval(() => {}, 1000); console.log('ready')`
  const program = runProgram(['run', '--', ...script(patient)], started)
  await program.said(/ready/)
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(5)
  expect(program.stdout()).toBe('ready\ntold\n')
  const unheard = /^foldgate: no request came through\.\nfoldgate: the program may not read .*\n$/
  expect(program.stderr()).toMatch(unheard)
  const upstream = `http://127.0.0.1:${await freePort()}/v1`
  const kills = script(`process.kill(process.pid, 'SIGKILL')`)
  const killed = await run(['--upstream', upstream, '--', ...kills], started)
  expect(killed.code).toBe(128 + 9)
  expect(killed.stderr).toContain(`foldgate: nothing listens at ${upstream}, the upstream "default"`)
})

test('what cannot be started is said, with the exit codes of a shell; what is wrong is said before anything starts', async () => {
  const started = await user()
  const closed = join(started.cwd, 'agent.mjs')
  const notThere = 'cannot be started: it is not on the PATH'
  for (const [words, code, said] of [
    [['--', 'no-such-program'], 127, `foldgate run: no-such-program ${notThere}\n`],
    [['--', 'cluade'], 127, `foldgate run: cluade ${notThere} — did you mean "claude"?\n`],
    [['--', closed], 126, `foldgate run: ${closed} cannot be started (EACCES)\n`],
    [['--profile', 'tigth', '--', 'x'], 1, '--profile: there is no profile "tigth"; did you mean "tight"?\n'],
  ] as const)
    expect((await run(words, started)).refused).toEqual([code, said])
  // What answered like this was taken for a Foldgate, and would have been sent what the program asks.
  const other = createServer((_incoming, outgoing) => outgoing.end('{"status":"ok"}'))
  const port = String(await freePort())
  await once(other.listen(Number(port), '127.0.0.1'), 'listening')
  onTestFinished(() => void other.close())
  const env = { ...started.env, FOLDGATE_PORT: port }
  const alone = await run(['--attach', '--', ...script('')], { ...started, env })
  expect(alone.refused).toEqual([
    1,
    expect.stringMatching(/^--attach: no Foldgate of yours runs, by its own word/),
  ])
})

test('that opencode is told no model of the server is said, with the line to write; what is printed stays what it is', async () => {
  const started = await user()
  const server = ['--print', '--upstream', 'http://127.0.0.1:9/v1']
  const without = await run([...server, '--', 'opencode', 'run', 'PLANTED'], started)
  expect(without.refused).toEqual([
    0,
    'foldgate: opencode is told no model of this server, and may ask a provider of its own instead: ' +
      'write npm start -- run --upstream http://127.0.0.1:9/v1 --model NAME -- opencode …\n',
  ])
  expect(without.stdout).toMatch(/^OPENCODE_CONFIG_CONTENT=\{.*\}\n$/)
  expect((await run([...server, '--model', 'm', '--', 'opencode'], started)).refused).toEqual([0, ''])
})

test('a file that is laid for a program is its user’s alone, and ends with it', async () => {
  const started = await user()
  const folder = join(started.cwd, 'own')
  await mkdir(folder)
  const reads = `import { statSync, readFileSync } from 'node:fs'
const path = process.env.CLINE_PROVIDER_SETTINGS_PATH
console.log((statSync(path).mode & 0o777).toString(8), JSON.parse(readFileSync(path, 'utf8')).lastUsedProvider)`
  await writeFile(join(folder, 'cline.mjs'), reads)
  const command = [process.execPath, join(folder, 'cline.mjs')]
  const env = { ...started.env, TMPDIR: folder }
  const server = ['--upstream', 'http://127.0.0.1:9/v1', '--model', 'm']
  const ran = await run([...server, '--', ...command], { ...started, env })
  expect([ran.code, ran.stdout]).toEqual([0, '600 openai-compatible\n'])
  expect(await readdir(folder)).toEqual(['cline.mjs'])
})

// With the key in it, until the machine was started anew.
test('what a killed run has left is deleted by the next; no link, no other’s, and none of a run that goes on', async () => {
  const started = await user()
  const folder = join(started.cwd, 'own')
  const command = [process.execPath, join(folder, 'cline.mjs')]
  await mkdir(folder)
  await writeFile(
    join(folder, 'cline.mjs'),
    `setTimeout(() => {}, process.argv.at(-1)); console.log('ready', process.pid)`,
  )
  const env = { ...started.env, TMPDIR: folder }
  const args = ['run', '--upstream', 'http://127.0.0.1:9/v1', '--model', 'm', '--', ...command]
  const killed = runProgram([...args, '60000'], { ...started, env })
  const [, child = ''] = await killed.said(/ready (\d+)/)
  killed.child.kill('SIGKILL')
  process.kill(Number(child), 'SIGKILL')
  await killed.ended
  const left = (await readdir(folder)).find((name) => name.startsWith('foldgate-run-')) ?? ''
  expect(await readdir(join(folder, left))).toEqual(['providers.json'])
  const goesOn = `foldgate-run-${process.pid}-x`
  const elsewhere = join(started.cwd, 'elsewhere')
  for (const path of [elsewhere, join(folder, goesOn)]) {
    await mkdir(path)
    await writeFile(join(path, 'mine'), '')
  }
  const link = `${left}-link`
  await symlink(elsewhere, join(folder, link))
  expect((await run([...args.slice(1), '0'], { ...started, env })).code).toBe(0)
  expect((await readdir(folder)).sort()).toEqual(['cline.mjs', goesOn, link].sort())
  expect(await readdir(elsewhere)).toEqual(['mine'])
})

// It was told as a fault of Foldgate's own, and the program's exit code was lost.
test.skipIf(process.getuid?.() === 0)(
  'a folder that cannot be deleted is named, and the program’s exit code stays',
  async () => {
    const started = await user()
    const folder = join(started.cwd, 'own')
    await mkdir(folder)
    const closes = `import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
chmodSync(dirname(process.env.CLINE_PROVIDER_SETTINGS_PATH), 0o500)
process.exit(7)`
    await writeFile(join(folder, 'cline.mjs'), closes)
    const command = ['--', process.execPath, join(folder, 'cline.mjs')]
    const env = { ...started.env, TMPDIR: folder }
    const ran = await run(['--upstream', 'http://127.0.0.1:9/v1', '--model', 'm', ...command], {
      ...started,
      env,
    })
    for (const name of await readdir(folder)) await chmod(join(folder, name), 0o700)
    expect(ran.code).toBe(7)
    expect(ran.stderr).not.toContain('    at ')
    expect(ran.stderr).toMatch(
      /^foldgate: \S+foldgate-run-\S+, which may hold your key, could not be deleted \(E\w+\): delete it$/m,
    )
  },
)

// Node's stack said that `::none` is no URL, and not where it stood. What such a variable holds may be a password.
test('a variable that should name a proxy, and holds no address of one, is told by its name', async () => {
  const started = await user({ HTTP_PROXY: '::none', https_proxy: 'proxy:3128', NO_PROXY: '::any' })
  const { refused } = await run(
    ['--upstream', 'http://127.0.0.1:9/v1', '--model', 'm', '--', 'claude'],
    started,
  )
  const told = 'is no address of a proxy — write http://HOST:PORT, or leave it out for Foldgate'
  expect(refused).toEqual([1, `HTTP_PROXY: ${told}\nhttps_proxy: ${told}\n`])
})

// Every start of a program opened it: the settings of the run were a copy of all that the command has, and with it of its input.
test('its standard input is not opened: a program that reads it has it to itself', async () => {
  const started = await user()
  const told = `Object.defineProperty(process, 'stdin', { get: () => void process.stderr.write('opened\\n') })`
  await writeFile(join(started.cwd, 'watch.mjs'), told)
  const env = {
    ...started.env,
    NODE_OPTIONS: `--import=${pathToFileURL(join(started.cwd, 'watch.mjs')).href}`,
  }
  const ran = await run(['--upstream', 'http://127.0.0.1:9/v1', '--', ...script('')], { ...started, env })
  expect(ran.code).toBe(0)
  expect(ran.stderr).toMatch(/^foldgate: no request came through\.$/m)
  expect(ran.stderr).not.toMatch(/^opened$/m)
})

test('its standard input is the program’s, and --keep goes on until it is ended', async () => {
  await using upstream = await fakeUpstream(completion('fine'))
  const started = await user()
  const reads = `process.stdin.on('data', (text) => process.stdout.write(text)).on('end', () => process.exit(0))`
  const args = ['run', '--keep', '--upstream', upstream.url, '--', ...script(reads)]
  const kept = runProgram(args, started)
  onTestFinished(() => void kept.child.kill('SIGKILL'))
  kept.child.stdin?.end('typed\n')
  const [, page = ''] = await kept.said(/it goes on, with its page at (\S+), until Ctrl-C\./)
  expect(kept.stdout()).toBe('typed\n')
  expect((await fetch(page)).status).toBe(200)

  const attached = await run(['--attach', ...theAgent], started)
  expect(attached.ended).toEqual([7, '200 relayed default 200\n'])
  expect(attached.stderr).toMatch(
    /^foldgate: attached to http:\S+, which forwards to http:\S+\/v1\nfoldgate: 2 requests, sent as they came\.\n$/,
  )
  expect(upstream.requests).toHaveLength(2)
  const { refused } = await run(['--attach', '--profile', 'tight', '--', ...script('')], started)
  const decided = '--profile: is decided by the Foldgate that runs already — start that one with it, or leave'
  expect(refused).toEqual([1, `${decided} --attach out\n`])
  // Its terminal is closed: it read its profiles again, and stayed behind.
  kept.child.kill('SIGHUP')
  expect(await kept.ended).toBe(0)
})
