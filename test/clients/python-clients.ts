import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Feature, Matrix } from './matrix.ts'
import {
  agentStand,
  expectCompacted,
  LAST_WORDS,
  messagesStand,
  responsesStand,
  ROUNDS,
  type Made,
  type Stand,
} from './stand/agent-stand.ts'
import { expectForgotten, expectKnown, ollamaStand } from './stand/ollama-stand.ts'
import { environment, runProgram } from './stand/installed-program.ts'

export function pythonClients(matrix: Matrix): void {
  const missing = whyThereIsNoPython()
  const isAbsent = missing !== null
  if (isAbsent) process.stderr.write(`Python clients are skipped: ${missing}.\n`)
  describe.skipIf(isAbsent)('clients of Python', () => {
    beforeAll(installPython, INSTALL_MS)

    for (const [name, packageName, script, { open, feature, made }] of clients) {
      const shows = matrix.client(name, packageName, { isAbsent, versionOf })
      test(
        `${name} reads files until the window would have overflowed`,
        shows(feature, async () => {
          await using at = await open()
          const { said, read } = await runPython(script, at.url)
          if (feature === 'structured') {
            expect(said).toEqual({ longest: 'src/main.ts', lines: 20 })
            return expectCompacted(at, 1)
          }
          expect(said).toBe(LAST_WORDS)
          expect(new Set(read).size).toBe(ROUNDS)
          return expectCompacted(at, ROUNDS + 1, made)
        }),
      )
    }

    const shows = matrix.client('Ollama SDK, Python', 'ollama', { isAbsent, versionOf })
    test.each([
      [
        'straight at the server it is answered from a cut prompt, through Foldgate from a whole one',
        shows('streamedLoop', readThrough),
      ],
      ['started by foldgate run it goes there by OLLAMA_HOST', readByRun],
    ])('Ollama SDK, Python: %s', async (_, show) => {
      expect.hasAssertions()
      await show()
    })
  })
}

async function readThrough(): Promise<void> {
  await using direct = await ollamaStand('alone')
  expectForgotten(direct, (await runPython('ollama_sdk', direct.url)).said)
  await using at = await ollamaStand('through Foldgate')
  expectKnown(at, (await runPython('ollama_sdk', at.url)).said, 'streamed')
}

async function readByRun(): Promise<void> {
  await using at = await ollamaStand('alone')
  const flags = ['--admin-port', '0', '--upstream', at.url, '--store', 'memory:']
  const { said } = await runPython('ollama_sdk', '', [process.execPath, main, 'run', ...flags, '--'])
  expectKnown(at, said, 'streamed')
}

const INSTALL_MS = 600_000
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

type PythonClient = {
  readonly open: () => Promise<Stand>
  readonly feature: Feature
  readonly made?: Made
}

const loop = { open: agentStand, feature: 'loop' } as const
const streaming = (stand: typeof responsesStand, path: string): PythonClient => ({
  open: () => stand('through Foldgate'),
  feature: 'streamedLoop',
  made: { form: 'streamed', path },
})

const clients: readonly (readonly [name: string, packageName: string, script: string, PythonClient])[] = [
  ['OpenAI SDK, Python', 'openai', 'openai_sdk', loop],
  [
    'OpenAI SDK, Python, Responses API',
    'openai',
    'openai_responses',
    streaming(responsesStand, '/v1/responses'),
  ],
  [
    'Anthropic SDK, Python, Messages API',
    'anthropic',
    'anthropic_sdk',
    streaming(messagesStand, '/v1/messages'),
  ],
  ['LangChain, Python', 'langchain-openai', 'langchain_agent', loop],
  ['OpenAI Agents SDK, Python', 'openai-agents', 'agents_sdk', loop],
  ['Pydantic AI', 'pydantic-ai-slim', 'pydantic_ai_agent', loop],
  ['Instructor', 'instructor', 'instructor_client', { open: agentStand, feature: 'structured' }],
]

const folder = fileURLToPath(new URL('python/', import.meta.url))
const list = join(folder, 'requirements.txt')
const venv = fileURLToPath(new URL('.venv', import.meta.url))
const python = join(venv, 'bin', 'python')
const complete = join(venv, 'complete')
type Told = { readonly said: unknown; readonly read: readonly string[] }

function whyThereIsNoPython(): string | null {
  const asked = 'import ensurepip, sys, venv; sys.exit(0 if sys.version_info >= (3, 11) else 1)'
  const { error, status } = spawnSync('python3', ['-c', asked], { stdio: 'ignore' })
  if (error !== undefined) return `there is no python3 here: ${error.message}`
  return status === 0 ? null : 'python3 is older than 3.11, or makes no virtual environments'
}

/** Installs what `requirements.txt` lists into a virtual environment, once for each state of the list. */
function installPython(): void {
  const state = createHash('sha256').update(readFileSync(list)).digest('hex')
  if (existsSync(complete) && readFileSync(complete, 'utf8') === state) return
  rmSync(venv, { recursive: true, force: true })
  for (const [command, args] of [
    ['python3', ['-m', 'venv', venv]],
    [python, [...'-m pip install --no-input --disable-pip-version-check --no-deps -q -r'.split(' '), list]],
  ] as const) {
    const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
    if (status !== 0)
      throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}`)
  }
  writeFileSync(complete, state)
}

function versionOf(packageName: string): string {
  const lines = readFileSync(list, 'utf8').split('\n')
  const line = lines.find((each) => each.startsWith(`${packageName}==`))
  return line?.slice(packageName.length + 2) ?? ''
}

async function runPython(script: string, baseUrl: string, by: readonly string[] = []): Promise<Told> {
  const home = await mkdtemp(join(tmpdir(), 'foldgate-python-'))
  const [command, ...args] = [...by, python, join(folder, 'clients.py'), script, baseUrl]
  try {
    const { exitCode, output } = await runProgram({
      command,
      args,
      cwd: home,
      env: { ...environment(home), PYTHONDONTWRITEBYTECODE: '1', OPENAI_API_KEY: 'key' },
    })
    if (exitCode !== 0) throw new Error(`${script} ended with exit code ${exitCode}: ${output.slice(-2_000)}`)
    const told: Told = JSON.parse(output.split('\n').find((line) => line.startsWith('{"said"')) ?? '')
    return told
  } finally {
    await rm(home, { recursive: true })
  }
}
