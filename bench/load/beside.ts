import { setTimeout as pause } from 'node:timers/promises'
import { median } from '../figures.ts'
import { PLAIN_MODEL } from './models.ts'
import { openConnection, postOf, type Asked } from './load.ts'

/** How small requests fared while large ones were being answered. */
export type Beside = {
  /** The median of the small request while nothing else was asked, in milliseconds. */
  readonly idleMs: number
  /** What each small request took longer than that, in milliseconds. */
  readonly addedMs: readonly number[]
  readonly answers: readonly Asked[]
}

/** A chat request of about 2 kB. */
const smallRequest = postOf(
  '/v1/chat/completions',
  Buffer.from(
    JSON.stringify({
      model: PLAIN_MODEL,
      messages: [
        { role: 'system', content: 'Answer in one word.' },
        { role: 'user', content: 'Is this sentence about a ledger or about a cursor? '.repeat(38) },
      ],
    }),
  ),
)

/** Small requests before the idle median is taken: a fresh process has to get warm first. */
const WARMING = 200
const IDLE = 200

/**
 * Asks the small request again and again on a connection of its own, `pauseMs` apart, while all large ones are asked,
 * each on a connection of its own. Throws at a status that is not 200.
 */
export async function askBeside(origin: string, large: readonly Buffer[], pauseMs = 0): Promise<Beside> {
  const small = await openConnection(origin)
  const askSmall = async (): Promise<number> => (await answered(small.ask(smallRequest))).totalMs
  for (let count = 0; count < WARMING; count += 1) await askSmall()
  const idle: number[] = []
  for (let count = 0; count < IDLE; count += 1) idle.push(await askSmall())
  const idleMs = median(idle)

  const connections = await Promise.all(large.map(() => openConnection(origin)))
  const done = new AbortController()
  const asking = Promise.all(
    connections.map(async ({ ask }, index) => answered(ask(large[index] ?? smallRequest))),
  ).finally(() => done.abort())
  const addedMs: number[] = []
  const watching = (async () => {
    while (!done.signal.aborted) {
      addedMs.push((await askSmall()) - idleMs)
      if (pauseMs > 0) await pause(pauseMs)
    }
  })()
  const [answers] = await Promise.all([asking, watching])
  for (const { close } of [small, ...connections]) close()
  return { idleMs, addedMs, answers }
}

// --- internal ---

async function answered(asking: Promise<Asked>): Promise<Asked> {
  const asked = await asking
  if (asked.status !== 200) throw new Error(`answered ${asked.status}: ${asked.first.toString('utf8')}`)
  return asked
}
