import { chmod } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allPages, shellBlocksIn } from '../docs/pages.ts'
import { temporaryFolder, type OnEnd } from '../config/temporary-folder.ts'
import { completion, fakeUpstream } from '../support/fake-upstream.ts'
import { freePort } from '../support/free-port.ts'
import { longRun } from '../support/conversations.ts'
import { chatOf } from '../support/post-chat.ts'
import { endGroup, startCommand } from '../support/run-command.ts'
import { main, serve } from './program.ts'

const pages = (await allPages()).filter(({ path }) => path === 'README.md' || path.startsWith('docs/'))
const blocks = pages.flatMap(({ path, text }) => shellBlocksIn(text).map((block) => ({ ...block, path })))
const linesRun = blocks.flatMap(({ path, lines }) =>
  lines.filter(({ whyNot }) => whyNot === null).map(({ line }) => ({ path, line })),
)

/** What a reader has beside the repository: programs that say they were led somewhere, npm and npx. */
const programs = {
  foldgate: `exec "${process.execPath}" "${main}" "$@"`,
  npx: '[ "$1" = foldgate ] && shift && exec foldgate "$@"\nexit 1',
  npm: 'case "$1 $2" in "start --") shift 2; exec foldgate "$@";; "run demo") exec foldgate demo;; esac\nexit 1',
  ...Object.fromEntries(
    ['claude', 'codex', 'opencode', 'qwen', 'aider'].map((name) => [
      name,
      'case "$(env) $*" in *http://127.0.0.1:*) exit 0;; esac\nexit 1',
    ]),
  ),
}

/** The files that the lines name. */
const files = {
  'body.json': JSON.stringify(chatOf(longRun(4, 7), { model: 'gpt-4o' })),
  'request.json': JSON.stringify(chatOf(longRun(4, 7), { model: 'gpt-4o' })),
  'recordings/one.jsonl': `${JSON.stringify({ messages: longRun(40, 7) })}\n`,
  'profiles/small-local.yaml': 'window: {tokens: 16000}\n',
}

const endings: Parameters<OnEnd>[0][] = []
const onEnd: OnEnd = (ending) => void endings.unshift(ending)

const stand = { cwd: '', upstream: '', port: 0, adminPort: 0, env: {} }

beforeAll(async () => {
  const upstream = await fakeUpstream(completion('Done.'))
  onEnd(upstream.close)
  const scripts = Object.entries(programs).map(([name, text]) => [`bin/${name}`, `#!/bin/sh\n${text}\n`])
  const cwd = await temporaryFolder({ ...files, ...Object.fromEntries(scripts) }, onEnd)
  for (const name of Object.keys(programs)) await chmod(join(cwd, 'bin', name), 0o700)
  const [port, adminPort] = [await freePort(), await freePort()]
  const args = ['--upstream', upstream.url, '--port', String(port), '--admin-port', String(adminPort)]
  await serve([...args, '--store', 'memory:'], { cwd, onEnd })
  const path = [join(cwd, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
  Object.assign(stand, { cwd, upstream: upstream.origin, port, adminPort, env: { PATH: path, HOME: cwd } })
})

afterAll(async () => {
  for (const ending of endings) await ending()
})

/** The line, with the addresses of this stand instead of those that a reader has. */
const inPlace = (line: string): string =>
  line
    .replaceAll('http://127.0.0.1:3653', `http://127.0.0.1:${stand.port}`)
    .replaceAll('http://127.0.0.1:3654', `http://127.0.0.1:${stand.adminPort}`)
    .replaceAll(/http:\/\/127\.0\.0\.1:(?:11434|8080)/g, stand.upstream)

describe.skipIf(process.platform === 'win32')('a shell line of README and docs', () => {
  test.each(linesRun)('$path: $line', async ({ line }) => {
    const ports = { FOLDGATE_PORT: String(await freePort()), FOLDGATE_ADMIN_PORT: '0' }
    const running = startCommand('/bin/sh', ['-c', inPlace(line)], {
      cwd: stand.cwd,
      env: { ...stand.env, ...ports },
      detached: true,
    })
    // A Foldgate that serves goes on until somebody ends it.
    const listens = running.said(/listens on http/).then(() => 0)
    try {
      const code = await Promise.race([running.ended, listens.catch(() => running.ended)])
      expect([code, running.output()]).toEqual([0, running.output()])
    } finally {
      await endGroup(running)
    }
  })
})

test('what is not run says why, of lines that are there', () => {
  expect(linesRun.length).toBeGreaterThan(20)
  const marked = blocks.flatMap(({ path, markers }) => markers.map((marker) => ({ path, ...marker })))
  // What stands in no block of this form would be run by nobody.
  expect(pages.filter(({ text }) => /^ +```sh$|^ *```(?:bash|shell|console)$/m.test(text))).toEqual([])
  expect(marked.filter(({ reason, finds }) => !reasons.test(reason) || finds === 0)).toEqual([])
})

/** Why a line may not be run: anything else is a reason to make it run. */
const reasons = /^(?:needs (?:Docker|a key|an installation|a folder of recordings|a model)|runs long)$/
