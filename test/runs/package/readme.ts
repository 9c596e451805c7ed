import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { inPackages } from '../../clients/stand/installed-program.ts'
import { fencedBlocks } from '../../docs/pages.ts'
import { endGroup, startCommand, type Steps } from '../../support/run-command.ts'
import type { Installed } from './installed.ts'

/** Runs every command of the README, word for word, where its reader would: in a clean checkout, or where Foldgate is installed. */
export async function followReadme(installed: Installed, steps: Steps): Promise<void> {
  const { checkout } = installed
  // npm finds its registry by the user's settings; Foldgate keeps nothing in their home.
  const env = {
    ...process.env,
    PATH: installed.env['PATH'],
    XDG_STATE_HOME: installed.env['HOME'],
    // What its reader installs for all of a machine stays in the folder of this run.
    npm_config_prefix: join(installed.env.HOME, 'global'),
  }
  const text = await readFile(join(checkout, 'README.md'), 'utf8')
  await writeFile(join(installed.folder, 'body.json'), JSON.stringify(body))
  const profiles = fencedBlocks(text, 'yaml').filter((block) => block.startsWith('# profiles/'))
  await mkdir(join(installed.folder, 'profiles'), { recursive: true })
  for (const block of profiles)
    await writeFile(join(installed.folder, block.slice(2, block.indexOf('\n'))), block)
  const commands = commandsOf(text)
  await steps.step('the README names commands', () => assert.ok(commands.length > 5))
  for (const command of commands) {
    const known = outcomes.find(({ pattern }) => pattern.test(command))
    if (known === undefined) {
      const unknown =
        'no run of this command is known: say in test/runs/package/readme.ts what it is to print'
      await steps.step(`README: ${command}`, () => assert.fail(unknown))
      continue
    }
    const { says, engine, ends } = known
    if (engine !== undefined && spawnSync(engine, ['info']).status !== 0) {
      steps.unseen(`README: ${command} (no engine of ${engine} runs here)`)
      continue
    }
    await steps.step(`README: ${command}`, async () => {
      const isInstalled = command.startsWith('npx ')
      const withAgents = [...agentFolders, env.PATH].join(delimiter)
      const running = startCommand('sh', ['-c', `exec ${command}`], {
        cwd: isInstalled ? installed.folder : checkout,
        env: isInstalled
          ? { ...installed.env, PATH: withAgents, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }
          : env,
        detached: true,
      })
      try {
        if (ends) assert.equal(await running.ended, 0, running.output())
        const [said] = await running.said(says)
        return said.slice(0, 120)
      } finally {
        await endGroup(running)
      }
    })
  }
}

type Outcome = {
  readonly pattern: RegExp
  /** What it prints. */
  readonly says: RegExp
  /** Whether it ends by itself, with 0. */
  readonly ends: boolean
  /** Whose engine has to run on this machine, beside Node and npm. */
  readonly engine?: string
}

/** What is known of each command; the first pattern that fits holds. A server is ended once it has said that it listens. */
const outcomes: readonly Outcome[] = [
  { pattern: /^npm (?:ci|pack|install -g \.\/foldgate-[\d.]+\.tgz)$/, says: /(?:)/, ends: true },
  { pattern: /^(?:npm run|npx foldgate) demo$/, says: /Without Foldgate|without Foldgate/, ends: true },
  { pattern: /^npx foldgate --upstream \S+$/, says: /Foldgate [\d.]+ listens on .*/, ends: false },
  { pattern: /^npx foldgate check --model \S+$/, says: /^window .*/m, ends: true },
  { pattern: /^npx foldgate explain body\.json$/, says: /.*\d+ tokens.*/, ends: true },
  // Without a task and a terminal the agents have nothing to do, and say so.
  { pattern: /^npx foldgate run .*-- (?:claude|codex)$/, says: /^foldgate: /m, ends: false },
  { pattern: /^docker /, says: /(?:)/, ends: true, engine: 'docker' },
]

/** Where the agents are that its reader has. */
const agentFolders = [inPackages('@anthropic-ai/claude-code-linux-x64'), inPackages('.bin')]

/** A request as a reader may have one. */
const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'What is in the file README.md?' }] }

/** The lines of shell blocks, and what the text names between backticks as a command. */
function commandsOf(text: string): readonly string[] {
  const prose = text.replaceAll(/^```.*?^```$/gms, '')
  const named = prose.match(/(?<=`)(?:npm|npx|node|foldgate) [^`\n]+(?=`)/g) ?? []
  const lines = fencedBlocks(text, 'sh').flatMap((block) => block.split('\n'))
  const commands = [...lines, ...named].map((line) => line.replace(/\s+#.*$/, '').trim())
  // The beginning of a command is none.
  return [...new Set(commands)].filter((line) => !['', 'npx foldgate', 'npm start --'].includes(line))
}
