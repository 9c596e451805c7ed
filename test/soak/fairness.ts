import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { post } from '../attacks/post.ts'
import { freePort } from '../support/free-port.ts'
import { startSoaked } from './soaked-program.ts'

export type FairnessReport = { readonly text: string; readonly wrong: readonly string[] }

/**
 * A client whose conversation of 200 kB grows by a question at a time, alone and beside another that sends bodies of ten
 * megabytes over eight connections, in turns: what one takes longer because of the other. Each has a credential of its
 * own. Client, server and the other client are processes of their own, so that none waits for another but in Foldgate.
 */
export async function fairness(seconds: number): Promise<FairnessReport> {
  const upstreamPort = await freePort()
  const upstream = program('upstream-program.ts', upstreamPort)
  const foldgate = await startSoaked({
    upstream: `http://127.0.0.1:${upstreamPort}/v1`,
    settings: { drain: { delay_s: 0, timeout_s: 5 }, log_level: 'error' },
    // Ten megabytes fit: what compacting them takes is the length of a turn of theirs, not its weight.
    profile: { window: { tokens: 8_000_000 } },
  })
  const unfair = program('unfair-program.ts', foldgate.port)
  const client = openFairClient(foldgate.port)
  const wrong: string[] = []
  const quiet: number[][] = []
  const beside: number[][] = []
  let answered = 0
  try {
    await client.during(WARMING_MS)
    const roundMs = (seconds * 1_000) / (2 * ROUNDS)
    for (let round = 0; round < ROUNDS; round += 1) {
      quiet.push(await client.during(roundMs))
      unfair.send('go')
      beside.push(await client.during(roundMs))
      unfair.send('stop')
      // What was begun is ended before the next round measures quiet again.
      const told: unknown[] = await once(unfair, 'message')
      answered = Number(told[0])
      await pause(SETTLING_MS)
    }
    const medians = timesOf(quiet, beside, 0.5)
    const late = timesOf(quiet, beside, 0.95)
    if (answered === 0) wrong.push('the unfair client was never answered: the run shows nothing')
    if (medians.times > TIMES_MAX)
      wrong.push(`a fair client takes ${medians.times.toFixed(1)} times as long beside an unfair one`)
    wrong.push(...client.failures.map((failure) => `the fair client got ${failure}`))
    return {
      text: [
        lineOf('median', medians),
        lineOf('95th percentile', late),
        `The unfair client had ${answered} answers.`,
      ].join('\n'),
      wrong,
    }
  } finally {
    client.leave()
    const end = await foldgate.stop()
    if (end !== '0') wrong.push(`Foldgate ended with ${end} beside an unfair client`)
    wrong.push(...foldgate.complaints().map((line) => `Foldgate said: ${line}`))
    for (const child of [unfair, upstream]) child.kill('SIGKILL')
  }
}

// --- internal ---

/** How many times as long as alone a fair client may take beside an unfair one. */
const TIMES_MAX = 3

const ROUNDS = 5

const WARMING_MS = 2_000

const SETTLING_MS = 500

const CONVERSATION_BYTES = 200_000

const QUESTION = 'What does the file ledger.ts do with rows that it has read before? '.repeat(12)

type Times = { readonly quietMs: number; readonly besideMs: number; readonly times: number }

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

/** Each round against the quiet one before it; of these the one in the middle. */
function timesOf(
  quiet: readonly (readonly number[])[],
  beside: readonly (readonly number[])[],
  share: number,
): Times {
  const pairs = quiet.map((each, round) => {
    const quietMs = at(each, share)
    const besideMs = at(beside[round] ?? [], share)
    return { quietMs, besideMs, times: besideMs / quietMs }
  })
  const sorted = pairs.toSorted((one, other) => one.times - other.times)
  return sorted[sorted.length >> 1] ?? { quietMs: Number.NaN, besideMs: Number.NaN, times: Number.NaN }
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

function lineOf(name: string, { quietMs, besideMs, times }: Times): string {
  return `A fair client, ${name}: ${quietMs.toFixed(1)} ms alone, ${besideMs.toFixed(1)} ms beside an unfair one, ${times.toFixed(1)} times as long.`
}
