import { describe, expect, test } from 'vitest'
import { programsLack, type Matrix } from './matrix.ts'
import { compactionsMax, compactionsOf, earlyCompactions, type RunSizes } from './stand/compactions.ts'
import type { ReadingAgent } from './stand/reading-agent.ts'
import { readingAgents } from './stand/reading-agents.ts'
import type { LoopRequest } from './stand/reading-models.ts'
import { haveFilesRead, LAST_WORDS, TASK, type ReadFile } from './stand/reading-stand.ts'

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
      lacks: programsLack,
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

// --- internal ---

/** Two runs of an agent on a busy machine. */
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
function unreadResults(loop: readonly LoopRequest[], files: readonly ReadFile[]): readonly string[] {
  return loop.slice(1).flatMap(({ newestResult }, round) => {
    const file = files[round]
    if (file === undefined) return []
    const missing = file.lines.filter((line) => !newestResult.includes(line))
    return missing.length === 0
      ? []
      : [`request ${round + 2}: ${missing.length} of ${file.lines.length} lines of ${file.name}`]
  })
}

function isTaskIn({ said }: LoopRequest): boolean {
  return said.some((text) => text.includes(TASK))
}

/** Tokens that a round adds to the prompt, the most of all rounds. */
function largestGrowth(requests: readonly LoopRequest[]): number {
  const sizes = requests.map(({ promptTokens }) => promptTokens)
  return Math.max(...sizes.slice(1).map((tokens, index) => tokens - (sizes[index] ?? 0)))
}

type Run = RunSizes & {
  /** Requests that fitted without Foldgate. */
  readonly fitting: number
  readonly loop: readonly LoopRequest[]
}

/** Figures of a run, for whoever looks at it. */
function told(name: string, run: Run): string {
  return `${[
    `${name}: of ${run.budgetTokens} tokens the first prompt takes ${run.fixedTokens}, a round up to ${run.roundTokens}`,
    `alone ${run.fitting} requests fit`,
    `through Foldgate ${compactionsOf(run.loop).length} compactions, at most ${compactionsMax(run)}`,
    `messages ${spread(run.loop.map(({ rawEntries }) => rawEntries.length))}`,
    `tokens unused ${spread(run.loop.map(({ promptTokens }) => run.budgetTokens - promptTokens))}`,
  ].join('; ')}\n`
}

function spread(values: readonly number[]): string {
  const sorted = [...values].sort((one, other) => one - other)
  return `${sorted[0]} to ${sorted.at(-1)}, median ${sorted[Math.floor(sorted.length / 2)]}`
}
