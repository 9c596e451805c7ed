import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../support/free-port.ts'
import { environment, inPackages } from './installed-program.ts'
import type { Front } from './reading-agent.ts'

/** A router that people set between Claude Code and their servers: here it knows of one, which speaks the Messages API. */
export const claudeCodeRouter: Front = async ({ home, baseUrl }) => {
  const port = await freePort()
  const settings = join(home, '.claude-code-router')
  await mkdir(settings)
  await writeFile(join(settings, 'config.json'), JSON.stringify(configuration(port, baseUrl)))
  const router = spawn(process.execPath, [program, 'start'], {
    env: environment(home),
    cwd: home,
    stdio: 'ignore',
  })
  const ended = once(router, 'close')
  const url = `http://127.0.0.1:${port}`
  await untilItAnswers(url)
  return {
    url,
    close: async () => {
      router.kill()
      await ended
    },
  }
}

// --- internal ---

const program = inPackages('@musistudio/claude-code-router/dist/cli.js')

const POLL_MS = 100
const POLLS_MAX = 300

function configuration(port: number, baseUrl: string): object {
  return {
    LOG: false,
    HOST: '127.0.0.1',
    PORT: port,
    NON_INTERACTIVE_MODE: true,
    Providers: [
      {
        name: 'local',
        api_base_url: `${baseUrl}/messages`,
        api_key: 'key',
        models: ['m'],
        transformer: { use: ['Anthropic'] },
      },
    ],
    Router: { default: 'local,m' },
  }
}

/** Any answer will do. */
async function untilItAnswers(url: string): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answered) return
    await pause(POLL_MS)
  }
  throw new Error(`Nothing answers at ${url}.`)
}
