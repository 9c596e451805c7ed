import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openDice } from '../../src/commands/demo/dice.ts'
import { sampleSource } from '../../src/commands/demo/tools.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { startFoldgate } from '../support/foldgate.ts'
import { startStrictUpstream } from '../support/strict-upstream/strict-upstream.ts'
import type { Matrix } from './matrix.ts'
import { inPackages, runProgram } from './stand/installed-program.ts'
import { claudeCode, type ReadingAgent, readingAgents, rereadingAgents } from './stand/reading-agents.ts'
import {
  compactionsMax,
  compactionsOf,
  earlyCompactions,
  type LoopRequest,
  type RunSizes,
  SUMMARY,
} from './stand/reading-models.ts'
import { haveFilesRead, LAST_WORDS, openReadingStand, type ReadFile, TASK } from './stand/reading-stand.ts'

/**
 * A coding agent as it is installed, run as a program without a person. Its own compaction is off, and it takes the window
 * for endless: a server with a small one behind it ends its work, unless somebody folds.
 */
export function codingAgent(matrix: Matrix): void {
  const shows = matrix.client('pi, a coding agent', '@mariozechner/pi-coding-agent')
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
        expect(folded.output).toContain(REPORTED)
        expect(folded.exitCode).toBe(0)
        expect(folded.written).toBe(REPORT)
        expect(folded.isCompacted).toBe(true)
        return String(REQUESTS)
      }),
    )
  })
}

/**
 * Agents whose system prompt and tools fill much of a small window, beside room for what the model writes.
 *
 * One of them, with 16,500 tokens before its first word, was sent on with four messages a request: system prompt, task, the
 * last call and its result, that one clipped from 1,225 tokens to 480. Nothing told of the files before it, and 4,300
 * tokens stayed unused in every request. 30 of 31 requests were compactions. A model would have read one file for ever.
 */
export function wholeWindow(matrix: Matrix): void {
  describe.for(readingAgents)('$name', (agent) => {
    const impossible = agent.impossible()
    const shows = matrix.client(agent.name, agent.packageName, {
      isAbsent: impossible !== null,
    })
    const show = shows(['streamedLoop', 'wholeWindow'], () => readAll(agent))
    test(
      'reads its files, each whole when it is the newest, with few compactions',
      async ({ skip }) => {
        // The list of tests does not show why one was skipped.
        process.stdout.write(impossible === null ? '' : `${agent.name}: skipped. ${impossible}\n`)
        skip(impossible !== null, impossible ?? '')
        expect.hasAssertions()
        await show()
      },
      RUN_MS,
    )
  })
}

/**
 * Agents that keep a list of what "the model has read" answer a second read with "unchanged, refer to that earlier result".
 * Claude Code and Qwen Code read thirty files and then ten of them again: ten of ten were nowhere in what the model received.
 */
export function readAgain(): void {
  describe.for(rereadingAgents)('$name', (agent) => {
    const impossible = agent.impossible()
    test(
      'reads files again, and each is there',
      async ({ skip }) => {
        skip(impossible !== null, impossible ?? '')
        const { exitCode, loop, files } = await haveFilesRead(agent, 'through Foldgate', AGAIN_TASK)
        const { rounds, again = 0 } = agent
        expect([exitCode, loop.length]).toEqual([0, rounds + again + 1])
        expect(loop.filter(({ rejected }) => rejected !== null)).toEqual([])
        let resolved = 0
        for (const [place, { name, lines }] of files.slice(0, again).entries()) {
          const [at, ...later] = loop.slice(rounds + place + 1)
          const holders = at?.results.filter((result) => lines.every((line) => result.includes(line))) ?? []
          expect([name, holders.length]).toEqual([name, 1])
          const [holder = ''] = holders
          if (holder.startsWith(RESOLVED)) resolved += 1
          // In the same bytes until it is cleared or folded, after which it does not come back.
          const end = later.findIndex(({ results }) => !results.includes(holder))
          const brought = later.slice(end === -1 ? later.length : end).flatMap(({ results }) => results)
          expect([name, brought.filter((result) => result === holder)]).toEqual([name, []])
        }
        expect(resolved).toBeGreaterThan(0)
        process.stdout.write(
          `${agent.name}: ${again} files read again, ${resolved} by a reference that was resolved\n`,
        )
      },
      RUN_MS,
    )
  })
}

/** So long that no prompt ends within a few tokens of its window, where a server that counts otherwise refuses once. */
const AGAIN_TASK = `${TASK} ${'Look at some of them twice, and be careful with each. '.repeat(20)}`

const RESOLVED = '[unchanged since the earlier call, whose result is repeated here]'

/**
 * Claude Code has a conversation summarised when its user says so, by the model and with all of the conversation: past the
 * window that is one more prompt that is too long. What follows stands on the summary.
 */
export function claudeCodeCompact(matrix: Matrix): void {
  const agent = claudeCode({ name: 'Claude Code, `/compact`', model: 'm', windowTokens: 60_000 })
  const impossible = agent.impossible()
  describe('Claude Code', () => {
    const shows = matrix.client(agent.name, agent.packageName, {
      isAbsent: impossible !== null,
    })
    const show = shows('streamedLoop', async () => {
      await using stand = await openReadingStand(agent, 'through Foldgate')
      const more = { args: ['--continue'] }
      const said = [await stand.run(TASK), await stand.run('/compact', more), await stand.run(TASK, more)]
      const requests = stand.requests()
      const [summarising, ...furtherSummaries] = requests.filter(({ isLoop }) => !isLoop)
      const second = requests.slice(requests.findIndex(({ isLoop }) => !isLoop) + 1)
      const refused = second.filter(({ rejected }) => rejected !== null)
      const reading = second.filter(({ rejected }) => rejected === null)

      expect(said.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
      expect(said.filter(({ output }) => output.includes(LAST_WORDS))).toHaveLength(2)
      expect(furtherSummaries).toEqual([])
      expect(summarising?.rejected).toBe(null)
      expect(summarising?.promptTokens).toBeLessThan(agent.windowTokens)
      expect(requests.filter(({ rejected }) => rejected?.reason === 'window')).toEqual([])
      // It keeps a thought from before its summary, is refused as it would be without Foldgate, and sends it no more.
      expect(refused.map(({ rejected }) => rejected?.reason)).toEqual(['binding'])
      expect(reading).toHaveLength(agent.rounds + 1)
      for (const { said: texts } of reading)
        expect(texts.some((text) => text.includes(summaryText))).toBe(true)
      return String(requests.length - refused.length)
    })
    test(
      'has a conversation summarised that is past the window, and goes on from there past it again',
      async ({ skip }) => {
        skip(impossible !== null, impossible ?? '')
        expect.hasAssertions()
        await show()
      },
      COMPACT_MS,
    )
  })
}

const PI_WINDOW_TOKENS = 12_000
const FILES = 30
const REPORTED = `The report on ${FILES} files is written.`
const REPORT = `${FILES} files were read.\n`

/** One for each file, a command, the report, the last words. */
const REQUESTS = FILES + 3
const pi = inPackages('@mariozechner/pi-coding-agent/dist/cli.js')

async function work(how: 'alone' | 'through Foldgate') {
  const upstream = await startScriptedModel()
  const foldgate =
    how === 'alone'
      ? null
      : await startFoldgate({
          upstream: upstream.url,
          profile: { window: { tokens: PI_WINDOW_TOKENS, output_reserve: 512 } },
        })
  const home = await mkdtemp(join(tmpdir(), 'foldgate-agent-'))
  try {
    const folder = join(home, 'work')
    await layOutForPi(home, folder, foldgate?.url ?? upstream.url)
    const { exitCode, output } = await runPi(home, folder)
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

async function startScriptedModel() {
  const counter = await loadCounter('o200k_base')
  let round = 0
  return startStrictUpstream({
    windowTokens: PI_WINDOW_TOKENS,
    template: 'lenient',
    outputReserveChecked: true,
    count: counter.count,
    reply: () => {
      round += 1
      if (round <= FILES) return call('read', { path: `file-${round}.ts` })
      if (round === FILES + 1) return call('bash', { command: 'ls | wc -l' })
      if (round === FILES + 2) return call('write', { path: 'report.txt', content: REPORT })
      return { content: REPORTED }
    },
  })

  function call(name: string, input: object) {
    return { content: null, toolCalls: [{ id: `call_${round}`, name, argumentsText: JSON.stringify(input) }] }
  }
}

async function layOutForPi(home: string, folder: string, baseUrl: string): Promise<void> {
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

async function runPi(home: string, folder: string) {
  const options = ['--print', '--no-session', '--provider', 'local', '--model', 'm']
  return runProgram({
    command: process.execPath,
    args: [pi, ...options, 'Report on all files.'],
    cwd: folder,
    // Offline: it looks for no update and tells nobody that it runs.
    env: { HOME: home, PATH: process.env['PATH'], PI_OFFLINE: '1', PI_TELEMETRY: '0' },
  })
}

const RUN_MS = 150_000

/** Has the agent work straight at the server, which it cannot for long, and then through Foldgate. */
async function readAll(agent: ReadingAgent): Promise<string> {
  // One a round, and the last words.
  const requests = agent.rounds + 1
  const direct = await haveFilesRead(agent, 'alone')
  const refused = direct.loop.findIndex(({ rejected }) => rejected !== null)
  const fitting = refused === -1 ? direct.loop.length : refused
  if (agent.atTheWindow === 'summarises ahead') {
    expect(refused).toBe(-1)
  } else {
    expect(direct.loop[refused]?.rejected?.reason).toBe('window')
    expect(fitting).toBeLessThan(requests)
  }
  if (typeof agent.atTheWindow === 'string') {
    expect(direct.aside.length).toBeGreaterThan(agent.requestsAside)
  } else {
    expect(direct.exitCode).not.toBe(0)
    expect(direct.output).toContain(agent.atTheWindow.givesUpWith)
  }

  const folded = await haveFilesRead(agent, 'through Foldgate')
  const sizes = {
    requests,
    budgetTokens: agent.windowTokens - agent.outputTokens,
    fixedTokens: folded.loop[0]?.promptTokens ?? 0,
    roundTokens: largestGrowth(direct.loop.slice(0, fitting)),
  }
  const seen = {
    requests: folded.loop.length,
    requestsAside: folded.aside.length,
    rejected: folded.loop.filter(({ rejected }) => rejected !== null).length,
    unread: unreadResults(folded.loop, folded.files),
    withoutTask: folded.loop.filter((request) => !isTaskIn(request)).length,
    differentPrompts: new Set(folded.loop.map(({ rawEntries }) => rawEntries.join())).size,
    compactedEarly: earlyCompactions(folded.loop, sizes),
    thoughtsLeftOut: folded.loop.filter(({ thoughtsLeftOut }) => thoughtsLeftOut > 0).length,
  }
  process.stdout.write(told(agent.name, { ...sizes, fitting, loop: folded.loop }))

  // A newest result that takes more than half of the room may be clipped.
  expect(sizes.roundTokens).toBeLessThan((sizes.budgetTokens - sizes.fixedTokens) / 2)
  expect(folded.output).toContain(LAST_WORDS)
  expect(folded.exitCode).toBe(0)
  expect(seen).toEqual({
    requests,
    requestsAside: agent.requestsAside,
    rejected: 0,
    unread: [],
    withoutTask: 0,
    differentPrompts: requests,
    compactedEarly: [],
    thoughtsLeftOut: 0,
  })
  expect(compactionsOf(folded.loop).length).toBeLessThanOrEqual(compactionsMax(sizes))
  return String(requests)
}

/** For each request whose newest entry is not all of the file that the request before asked for: what of it is missing. */
const unreadResults = (loop: readonly LoopRequest[], files: readonly ReadFile[]): readonly string[] =>
  loop.slice(1).flatMap(({ newestResult }, round) => {
    const file = files[round]
    if (file === undefined) return []
    const missing = file.lines.filter((line) => !newestResult.includes(line))
    return missing.length === 0
      ? []
      : [`request ${round + 2}: ${missing.length} of ${file.lines.length} lines of ${file.name}`]
  })

const isTaskIn = ({ said }: LoopRequest): boolean => said.some((text) => text.includes(TASK))

function largestGrowth(requests: readonly LoopRequest[]): number {
  const sizes = requests.map(({ promptTokens }) => promptTokens)
  return Math.max(...sizes.slice(1).map((tokens, index) => tokens - (sizes[index] ?? 0)))
}

type Run = RunSizes & { readonly fitting: number; readonly loop: readonly LoopRequest[] }

const told = (name: string, run: Run): string =>
  `${[
    `${name}: of ${run.budgetTokens} tokens the first prompt takes ${run.fixedTokens}, a round up to ${run.roundTokens}`,
    `alone ${run.fitting} requests fit`,
    `through Foldgate ${compactionsOf(run.loop).length} compactions, at most ${compactionsMax(run)}`,
    `messages ${spread(run.loop.map(({ rawEntries }) => rawEntries.length))}`,
    `tokens unused ${spread(run.loop.map(({ promptTokens }) => run.budgetTokens - promptTokens))}`,
  ].join('; ')}\n`

function spread(values: readonly number[]): string {
  const sorted = [...values].sort((one, other) => one - other)
  return `${sorted[0]} to ${sorted.at(-1)}, median ${sorted[Math.floor(sorted.length / 2)]}`
}

const COMPACT_MS = 200_000

/** It takes the tags away. */
const summaryText = SUMMARY.replaceAll(/<\/?summary>/g, '')
