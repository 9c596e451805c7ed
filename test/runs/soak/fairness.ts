import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { post } from '../attacks/post.ts'
import { freePort } from '../../support/free-port.ts'
import type { FoldgateProgram } from '../../support/foldgate-program.ts'
import { quantile } from '../harness/table.ts'
import { startSoaked } from './program.ts'

export type FairnessReport = { readonly text: string; readonly wrong: readonly string[] }

/**
 * What a fair client waits for beside an unfair one. All processes share the machine's cores, and with them what else
 * runs there: so the wait is compared with the one while the unfair client is served by another Foldgate, and a bad ratio
 * has to show itself in three runs before it is Foldgate's.
 */
export async function fairness(seconds: number, say: (text: string) => void): Promise<FairnessReport> {
  for (let run = 1; ; run += 1) {
    const { text, times, wrong } = await besideUnfair(seconds)
    say(`\n${text}`)
    if (times <= TIMES_MAX || wrong.length > 0) return { text, wrong }
    if (run === RUNS_MAX) {
      const more = `more than ${TIMES_MAX} in each of ${RUNS_MAX} runs`
      return {
        text,
        wrong: [`a fair client takes ${times.toFixed(1)} times as long beside an unfair one, and ${more}`],
      }
    }
  }
}

/** How many times as long a fair client may take if the unfair one is served by the same Foldgate, not by another. */
const TIMES_MAX = 2.5

const RUNS_MAX = 3

const ROUNDS = 5

const WARMING_MS = 2_000

const SETTLING_MS = 500

const CONVERSATION_BYTES = 200_000

const QUESTION = 'What does the file ledger.ts do with rows that it has read before? '.repeat(12)

/** The median latencies of one round's answers, in milliseconds, and how many times as long the last is. */
type Round = { readonly elsewhereMs: number; readonly besideMs: number; readonly times: number }

/**
 * A client whose conversation of 200 kB grows by a question at a time, in turns: while another client sends bodies of ten
 * megabytes over eight connections to another Foldgate, and while it sends them to the same one. Each has a
 * credential of its own. Clients, servers and the upstream are processes of their own, so that in the last turn none
 * waits for another but in Foldgate.
 */
async function besideUnfair(seconds: number) {
  const upstreamPort = await freePort()
  const upstream = program('upstream-program.ts', upstreamPort)
  const servers = [await startServer(upstreamPort), await startServer(upstreamPort)] as const
  const [foldgate, other] = servers
  const unfairHere = program('unfair-program.ts', foldgate.port)
  const unfairElsewhere = program('unfair-program.ts', other.port)
  const client = openFairClient(foldgate.port)
  const wrong: string[] = []
  const rounds: Round[] = []
  let answered = 0
  const during = async (unfair: ChildProcess, milliseconds: number): Promise<number[]> => {
    unfair.send('go')
    const latenciesMs = await client.during(milliseconds)
    unfair.send('stop')
    // What was begun is ended before anything else is measured.
    const told: unknown[] = await once(unfair, 'message')
    if (unfair === unfairHere) answered = Number(told[0])
    await pause(SETTLING_MS)
    return latenciesMs
  }
  try {
    await client.during(WARMING_MS)
    const turnMs = (seconds * 1_000) / (2 * ROUNDS)
    for (let round = 0; round < ROUNDS; round += 1) {
      const elsewhereMs = quantile(await during(unfairElsewhere, turnMs), 0.5) ?? Number.NaN
      const besideMs = quantile(await during(unfairHere, turnMs), 0.5) ?? Number.NaN
      rounds.push({ elsewhereMs, besideMs, times: besideMs / elsewhereMs })
    }
    const sorted = rounds.toSorted((first, second) => first.times - second.times)
    const middle = sorted[sorted.length >> 1] ?? { elsewhereMs: 0, besideMs: 0, times: Number.NaN }
    if (answered === 0) wrong.push('the unfair client was never answered: the run shows nothing')
    wrong.push(...client.failures.map((failure) => `the fair client got ${failure}`))
    return {
      text: `${lineOf(middle)}\nThe unfair client had ${answered} answers.`,
      times: middle.times,
      wrong,
    }
  } finally {
    client.leave()
    for (const server of servers) {
      const end = await server.stop()
      if (end !== '0') wrong.push(`Foldgate ended with ${end} beside an unfair client`)
      wrong.push(...server.complaints().map((line) => `Foldgate said: ${line}`))
    }
    for (const child of [unfairHere, unfairElsewhere, upstream]) child.kill('SIGKILL')
  }
}

const startServer = (upstreamPort: number): Promise<FoldgateProgram> =>
  startSoaked({
    upstream: `http://127.0.0.1:${upstreamPort}/v1`,
    settings: { drain: { delay_s: 0, timeout_s: 5 }, log_level: 'error' },
    // Ten megabytes fit: what compacting them takes is the length of a turn of theirs, not its weight.
    profile: { window: { tokens: 8_000_000 } },
  })

function program(file: string, port: number): ChildProcess {
  const path = fileURLToPath(new URL(`fairness/${file}`, import.meta.url))
  return spawn(process.execPath, [path, String(port)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

/** Its conversation begins anew when it is twice as long. */
function openFairClient(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const failures: string[] = []
  let messages: object[] = []
  return {
    failures,
    /** The latency of each answer, in milliseconds. */
    during: async (milliseconds: number): Promise<number[]> => {
      const latenciesMs: number[] = []
      const untilMs = performance.now() + milliseconds
      while (performance.now() < untilMs) {
        if (messages.length === 0 || messages.length > (2 * CONVERSATION_BYTES) / QUESTION.length) {
          messages = Array.from({ length: Math.ceil(CONVERSATION_BYTES / QUESTION.length) }, (_, index) => ({
            role: index % 2 === 0 ? 'user' : 'assistant',
            content: QUESTION,
          }))
        }
        messages.push({ role: 'assistant', content: 'Yes.' }, { role: 'user', content: QUESTION })
        const body = Buffer.from(JSON.stringify({ model: 'm', messages }))
        const beganMs = performance.now()
        const { status, text } = await post({ port, body, agent, key: 'sk-fair' })
        latenciesMs.push(performance.now() - beganMs)
        if (status !== 200) failures.push(`${status} ${text.slice(0, 160)}`)
        await pause(5)
      }
      return latenciesMs
    },
    leave: () => agent.destroy(),
  }
}

const lineOf = ({ elsewhereMs, besideMs, times }: Round): string =>
  `A fair client, median: ${elsewhereMs.toFixed(1)} ms beside an unfair one that is served by another Foldgate, ${besideMs.toFixed(1)} ms beside one that is served by the same, ${times.toFixed(1)} times as long.`
