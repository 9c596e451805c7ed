import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { completion, fakeUpstream } from '../support/fake-upstream.ts'
import { output, serve } from './program.ts'

const root = join(import.meta.dirname, '../..')

describe('what is wrong stops the start, every problem at once', () => {
  test('settings and profiles, with file, line and a suggestion', async () => {
    const cwd = await temporaryFolder({
      'foldgate.yaml': 'port: many\nupstreems: {}\nlimits: {body_mb: -1}\n',
      'profiles/mine.yaml': 'trigger: 7x\nobsreve: true\n',
    })
    const { code, stdout, stderr } = await output([], { cwd })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    const problems = stderr.trim().split('\n')
    expect(problems.length).toBeGreaterThanOrEqual(5)
    for (const part of [
      /foldgate\.yaml:1:\d+: .*port/,
      /foldgate\.yaml:2:\d+: .*did you mean "upstreams"/,
      /foldgate\.yaml:3:\d+: .*body_mb/,
      /mine\.yaml:1:\d+: .*trigger/,
      /mine\.yaml:2:\d+: .*did you mean "observe"/,
    ]) {
      expect(problems.filter((problem) => part.test(problem))).toHaveLength(1)
    }
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('flags and variables', async () => {
    const cwd = await temporaryFolder({})
    const { code, stderr } = await output(['--upstream', 'no address', '--prot', '1'], {
      cwd,
      env: { FOLDGATE_PORT: '99999' },
    })
    expect(code).toBe(1)
    expect(stderr).toContain('did you mean --port')
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('a settings file that is named and not there', async () => {
    const { code, stderr } = await output(['--config', 'nowhere.yaml'], { cwd: await temporaryFolder({}) })
    expect(code).toBe(1)
    expect(stderr).toContain('nowhere.yaml')
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('a key that is held without client keys off loopback: an open relay', async () => {
    const cwd = await temporaryFolder({
      'foldgate.yaml': 'upstreams: {default: {url: "http://127.0.0.1:9/v1", api_key_env: KEY}}\n',
    })
    const { code, stderr } = await output(['--host', '0.0.0.0', '--port', '0'], {
      cwd,
      env: { KEY: 'PLANTED' },
    })
    expect(code).toBe(1)
    expect(stderr).toContain('client_keys')
    expect(stderr).not.toContain('PLANTED')
  })
})

describe('foldgate check', () => {
  test('is content with nothing, and says so', async () => {
    const { code, stdout, stderr } = await output(['check'], { cwd: await temporaryFolder({}) })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).not.toBe('')
  })

  test('--model says which profile and window a model gets, and why', async () => {
    const cwd = await temporaryFolder({
      'profiles/mine.yaml': 'models: ["mine-*"]\nwindow: {tokens: 9000}\n',
    })
    const known = await output(['check', '--model', 'gpt-4o'], { cwd })
    expect(known.code).toBe(0)
    expect(known.stdout).toContain('default')
    expect(known.stdout).toMatch(/128[,. ]?000/)
    expect(known.stdout).toContain('table')
    const mine = await output(['check', '--model', 'mine-7b'], { cwd })
    expect(mine.stdout).toContain('mine')
    expect(mine.stdout).toMatch(/9[,. ]?000/)
    expect(mine.stdout).toMatch(/^begins +when a prompt exceeds 4,904 tokens of the model's, 4,264 of ours/m)
    expect(mine.stdout).toMatch(/^ratio +1\.15 of the model's tokens for one of ours, .*a guess/m)
    expect((await output(['check'], { cwd })).stdout).toMatch(/^profile +mine: window 9,000 .*beyond 4,904/m)
  })

  test('fails with every problem', async () => {
    const cwd = await temporaryFolder({ 'profiles/mine.yaml': 'obsreve: true\ntarget: 3x\n' })
    const { code, stdout, stderr } = await output(['check'], { cwd })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toContain('mine.yaml:1:1')
    expect(stderr).toContain('mine.yaml:2')
  })
})

describe('foldgate health', () => {
  test('is well where a Foldgate answers, and says what to look at where none does', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const cwd = await temporaryFolder({})
    const foldgate = await serve(['--upstream', upstream.url], { cwd })
    const well = await output(['health'], { cwd, env: { FOLDGATE_PORT: foldgate.port } })
    expect(well).toEqual({ code: 0, stdout: 'ok\n', stderr: '' })
    foldgate.child.kill('SIGKILL')
    await foldgate.ended
    const gone = await output(['health', '--port', foldgate.port], { cwd })
    expect(gone.code).toBe(1)
    expect(gone.stderr).toContain('--port')
    expect(gone.stderr).not.toMatch(/^\s+at /m)
  })
})

describe('the command line', () => {
  test('--version is the package’s', async () => {
    const [, declared] = /"version": "([^"]+)"/.exec(readFileSync(join(root, 'package.json'), 'utf8')) ?? []
    const cwd = await temporaryFolder({ 'foldgate.yaml': 'broken: [' })
    expect(await output(['--version'], { cwd })).toEqual({
      code: 0,
      stdout: `${declared}\n`,
      stderr: '',
    })
  })

  test('--help names every command and flag', async () => {
    const { code, stdout } = await output(['--help'], { cwd: await temporaryFolder({}) })
    expect(code).toBe(0)
    for (const word of [
      'serve',
      'demo',
      'check',
      'explain',
      'health',
      'purge',
      '--upstream',
      '--port',
      '--config',
      '--log-level',
    ]) {
      expect(stdout).toContain(word)
    }
  })

  test.each([
    [['sevre'], 'serve'],
    [['check', 'twice'], 'twice'],
    [['--port'], '--port'],
    [['demo', '--dialect', 'respones'], 'did you mean "responses"?'],
  ])('%j is refused with what was wrong', async (args, part) => {
    const { code, stdout, stderr } = await output(args, { cwd: await temporaryFolder({}) })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(part)
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})

/** A Node of this machine that is older than Foldgate needs; null where there is none. */
function olderNode(): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'node')
    if (folder === '' || folder.includes('node_modules') || !existsSync(path)) continue
    const version = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout
    const [major = 0, minor = 0] = version.trim().slice(1).split('.').map(Number)
    if (major > 0 && (major < 22 || (major === 22 && minor < 19))) return path
  }
  return null
}

describe('an older Node', () => {
  const older = olderNode()

  test.skipIf(older === null)(
    'is told in one line what Foldgate needs, instead of an error of syntax',
    async () => {
      const source = readFileSync(join(root, 'src/main.ts'), 'utf8')
      const built = stripTypeScriptTypes(source).replaceAll(/(?<=')(\.[^']*)\.ts(?=')/g, '$1.js')
      const folder = await temporaryFolder({
        'package.json': '{"type":"module"}',
        'dist/main.js': built,
        // Whatever would be imported before the version is known fails on every Node.
        'dist/cli.js': 'this is no JavaScript',
      })
      const command = [older ?? '', join(folder, 'dist/main.js')] as const
      const { code, stdout, stderr } = await output(['--help'], { cwd: folder, command })
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^foldgate needs Node 22\.19 or later; this is Node \d+\.\d+\.\d+\.\n$/)
    },
  )
})
