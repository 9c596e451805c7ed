import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { openDice } from '../../src/demo/dice.ts'
import { sampleSource } from '../../src/demo/sample-text.ts'
import { startStrictUpstream } from '../support/strict-upstream/strict-upstream.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { startFoldgate } from '../support/foldgate.ts'
import { programsLack, type Matrix } from './matrix.ts'
import { runProgram } from './stand/run-program.ts'

/**
 * A coding agent as it is installed, run as a program without a person. Its own compaction is off, and it takes the window
 * for endless: a server with a small one behind it ends its work, unless somebody folds.
 */
export function codingAgent(matrix: Matrix): void {
  const shows = matrix.client('pi, a coding agent', '@mariozechner/pi-coding-agent', {
    lacks: programsLack,
  })
  describe('pi, a coding agent', () => {
    test(
      'reads files until the window would have overflowed, then writes one',
      shows('streamedLoop', async () => {
        const direct = await work('alone')
        expect(direct.exitCode).not.toBe(0)
        expect(direct.output).toContain('maximum context length')
        expect(direct.written).toBe(null)
        expect(direct.rejected.slice(0, -1)).toEqual(Array(direct.rejected.length - 1).fill(null))
        expect(direct.rejected.at(-1)).toBe('window')
        expect(direct.rejected.length).toBeLessThan(REQUESTS)

        const folded = await work('through Foldgate')
        expect(folded.rejected).toEqual(Array(REQUESTS).fill(null))
        expect(folded.output).toContain(LAST_WORDS)
        expect(folded.exitCode).toBe(0)
        expect(folded.written).toBe(REPORT)
        expect(folded.isCompacted).toBe(true)
        return String(REQUESTS)
      }),
    )
  })
}

// --- internal ---

const WINDOW_TOKENS = 12_000
const FILES = 30
const LAST_WORDS = `The report on ${FILES} files is written.`
const REPORT = `${FILES} files were read.\n`

/** One for each file, a command, the report, the last words. */
const REQUESTS = FILES + 3

const program = fileURLToPath(
  new URL('node_modules/@mariozechner/pi-coding-agent/dist/cli.js', import.meta.url),
)

/** Has the agent do its work in a folder of its own, and tells what became of it. */
async function work(how: 'alone' | 'through Foldgate') {
  const upstream = await startScriptedModel()
  const foldgate =
    how === 'alone'
      ? null
      : await startFoldgate({
          upstream: upstream.url,
          profile: { window: { tokens: WINDOW_TOKENS, output_reserve: 512 } },
        })
  const home = await mkdtemp(join(tmpdir(), 'foldgate-agent-'))
  try {
    const folder = join(home, 'work')
    await layOut(home, folder, foldgate?.url ?? upstream.url)
    const { exitCode, output } = await runAgent(home, folder)
    return {
      exitCode,
      output,
      written: await readFile(join(folder, 'report.txt'), 'utf8').catch(() => null),
      rejected: upstream.requests.map(({ rejected }) => rejected?.reason ?? null),
      isCompacted: upstream.requests.at(-1)?.body.includes('[cleared: result of read') ?? false,
    }
  } finally {
    await rm(home, { recursive: true })
    await foldgate?.close()
    await upstream.close()
  }
}

/** A model that reads one file after the other, counts them with a command, and writes a report. */
async function startScriptedModel() {
  const counter = await loadCounter('o200k_base')
  let round = 0
  return startStrictUpstream({
    windowTokens: WINDOW_TOKENS,
    template: 'lenient',
    outputReserveChecked: true,
    count: counter.count,
    reply: () => {
      round += 1
      if (round <= FILES) return call('read', { path: `file-${round}.ts` })
      if (round === FILES + 1) return call('bash', { command: 'ls | wc -l' })
      if (round === FILES + 2) return call('write', { path: 'report.txt', content: REPORT })
      return { content: LAST_WORDS }
    },
  })

  function call(name: string, input: object) {
    return {
      content: null,
      toolCalls: [{ id: `call_${round}`, name, argumentsText: JSON.stringify(input) }],
    }
  }
}

/** The agent's settings and the files that it is to read. */
async function layOut(home: string, folder: string, baseUrl: string): Promise<void> {
  const settings = join(home, '.pi', 'agent')
  await mkdir(settings, { recursive: true })
  await mkdir(folder)
  const model = { id: 'm', contextWindow: 1_000_000, maxTokens: 512 }
  const provider = { baseUrl, api: 'openai-completions', apiKey: 'key', models: [model] }
  await writeFile(join(settings, 'models.json'), JSON.stringify({ providers: { local: provider } }))
  const quiet = { compaction: { enabled: false }, retry: { enabled: false }, quietStartup: true }
  await writeFile(join(settings, 'settings.json'), JSON.stringify(quiet))
  const dice = openDice(17)
  for (let file = 1; file <= FILES; file += 1) {
    await writeFile(join(folder, `file-${file}.ts`), sampleSource(dice, 40))
  }
}

async function runAgent(home: string, folder: string) {
  const options = ['--print', '--no-session', '--provider', 'local', '--model', 'm']
  return runProgram({
    command: process.execPath,
    args: [program, ...options, 'Report on all files.'],
    cwd: folder,
    // Offline: it looks for no update and tells nobody that it runs.
    env: { HOME: home, PATH: process.env['PATH'], PI_OFFLINE: '1', PI_TELEMETRY: '0' },
  })
}
