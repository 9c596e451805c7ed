import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inPackages, whyItDoesNotRun } from '../../clients/stand/installed-program.ts'
import { startReadingModel, type Dialect } from '../../clients/stand/reading-models.ts'
import { LAST_WORDS, layOut, TASK } from '../../clients/stand/reading-stand.ts'
import { freePort } from '../../support/free-port.ts'
import { endGroup, startCommand, type Steps } from '../../support/run-command.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import type { Installed } from './installed.ts'

/**
 * Claude Code and Codex, started by one line where Foldgate was just installed, before a strict server whose window is a
 * fraction of what they are to read. What their user sees is printed as it was.
 */
export async function liveFirstMinutes(installed: Installed, steps: Steps): Promise<void> {
  for (const agent of agents) {
    const missing = whyItDoesNotRun(agent.program)
    if (missing === null)
      await steps.step(`npx foldgate run -- ${agent.name}`, () => live(agent, installed, steps))
    else steps.unseen(`npx foldgate run -- ${agent.name} (${missing})`)
  }
}

type Agent = {
  readonly name: string
  /** Where it is, for whoever types its name. */
  readonly program: string
  readonly dialect: Dialect
  /** What its user types behind its name, but for the task. */
  readonly args: string
  readonly env: Readonly<Record<string, string>>
}

const WINDOW_TOKENS = 32_000
const ROUNDS = 20

const agents: readonly Agent[] = [
  {
    name: 'claude',
    program: inPackages('@anthropic-ai/claude-code-linux-x64/claude'),
    dialect: 'messages',
    args: '--print',
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  {
    name: 'codex',
    program: inPackages('.bin/codex'),
    dialect: 'responses',
    args: 'exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox',
    env: {},
  },
]

async function live(agent: Agent, { folder, env }: Installed, steps: Steps): Promise<string> {
  const work = join(folder, `work-${agent.name}`)
  const counter = await loadCounter('o200k_base')
  await mkdir(join(work, '..'), { recursive: true })
  const files = await layOut(work, counter.count)
  const upstream = await startReadingModel(agent.dialect, {
    windowTokens: WINDOW_TOKENS,
    folder: work,
    files: files.slice(0, ROUNDS).map(({ name }) => name),
    lastWords: LAST_WORDS,
  })
  const adminPort = await freePort()
  const typed = [
    'npx foldgate run',
    `--upstream ${upstream.url} --model m --admin-port ${adminPort}`,
    `-- ${agent.name} ${agent.args} '${TASK}'`,
  ]
  const path = `${join(agent.program, '..')}${delimiter}${env['PATH'] ?? ''}`
  const beganMs = performance.now()
  const running = startCommand('sh', ['-c', typed.join(' ')], {
    cwd: work,
    env: { ...env, ...agent.env, PATH: path },
    detached: true,
  })
  try {
    const page = await pageOnceItTells(`http://127.0.0.1:${adminPort}/`, running.ended)
    const code = await running.ended
    const seconds = ((performance.now() - beganMs) / 1000).toFixed(1)
    steps.record([
      `$ ${typed.join(' \\\n    ')}`,
      shortened(running.output()),
      `(ended with ${code} after ${seconds} s)`,
    ])
    assert.equal(code, 0)
    assert.ok(running.output().includes(LAST_WORDS), 'it did not do its work')
    assert.match(running.output(), /^foldgate: .*\b\d+ compacted\b.*\btokens saved\b/m)
    assert.match(page, conversationLink, 'the page showed no conversation while the agent worked')
    const loop = upstream.requests().filter(({ isLoop }) => isLoop)
    const answered = loop.filter(({ rejected }) => rejected === null).length
    assert.equal(answered, ROUNDS + 1)
    return `the server answered ${answered} requests and refused ${loop.length - answered}`
  } finally {
    await endGroup(running)
    await upstream.close()
  }
}

/** An agent that shows all that it reads fills pages. */
function shortened(output: string): string {
  const lines = output.trimEnd().split('\n')
  const left = lines.length - 2 * LINES_SHOWN
  if (left <= 0) return lines.join('\n')
  return [...lines.slice(0, LINES_SHOWN), `… (${left} lines)`, ...lines.slice(-LINES_SHOWN)].join('\n')
}

const LINES_SHOWN = 16

const conversationLink = /href="[^"]*conversations\//

/** The page while the agent works, once it has a conversation on it. */
async function pageOnceItTells(url: string, ended: Promise<unknown>): Promise<string> {
  const over = ended.then(() => true)
  for (;;) {
    const page = await fetch(url).then(
      (answer) => answer.text(),
      () => '',
    )
    if (conversationLink.test(page) || (await Promise.race([over, setTimeout(50, false)]))) return page
  }
}
