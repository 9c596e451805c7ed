import { setTimeout as pause } from 'node:timers/promises'
import { openConnection } from './load.ts'

/** How one streamed answer arrived. */
export type StreamSample = {
  /** Until the answer's headers were there, in milliseconds. */
  readonly headMs: number
  /** Until the first byte of its body was there, in milliseconds. */
  readonly firstByteMs: number
  /** From the upstream's write of each chunk to its receipt, in milliseconds. */
  readonly delaysMs: readonly number[]
  /** Chunks that arrived only after the upstream had written the next one. */
  readonly waited: number
}

export type StreamLoad = {
  readonly origin: string
  /** What is asked next over the connection of that number. */
  readonly request: (connection: number) => Buffer
  readonly connections: number
  /** How long new streams are begun, in milliseconds; each connection begins one at least. */
  readonly durationMs: number
  /** Over which time the connections begin, in milliseconds, so that they do not march in step. */
  readonly staggerMs: number
  /** How many timed chunks each answer has to have. */
  readonly chunks: number
}

/** Keeps streams running: each connection begins another as soon as its last one is whole. Throws where one is not. */
export async function runStreams(load: StreamLoad): Promise<StreamSample[]> {
  const { origin, request, connections, durationMs, staggerMs, chunks } = load
  const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(origin)))
  const samples: StreamSample[] = []
  await Promise.all(
    opened.map(async ({ ask, close }, index) => {
      await pause((staggerMs * index) / connections)
      const endMs = performance.now() + durationMs
      do samples.push(await takeStream(ask, request(index), chunks))
      while (performance.now() < endMs)
      close()
    }),
  )
  return samples
}

type Ask = Awaited<ReturnType<typeof openConnection>>['ask']

/** Asks for one stream and reads the times in it (`upstream-program.ts` writes them). */
export async function takeStream(ask: Ask, request: Buffer, chunks: number): Promise<StreamSample> {
  const sent: number[] = []
  const arrived: number[] = []
  const askedMs = performance.now()
  let firstByteMs = Number.NaN
  let rest = ''
  const { status, headMs, first } = await ask(request, (piece) => {
    const nowMs = performance.now()
    if (Number.isNaN(firstByteMs)) firstByteMs = nowMs - askedMs
    const text = rest + piece.toString('latin1')
    let readChars = 0
    for (const match of text.matchAll(/@([\d.]+)@/g)) {
      sent.push(Number(match[1]) - performance.timeOrigin)
      arrived.push(nowMs)
      readChars = match.index + match[0].length
    }
    rest = text.slice(readChars)
  })
  if (status !== 200) throw new Error(`it answered ${status}: ${first.toString('utf8')}`)
  if (sent.length !== chunks) throw new Error(`${sent.length} of ${chunks} chunks arrived`)
  if (!rest.includes('data: [DONE]')) throw new Error('the answer has no end')
  return {
    headMs,
    firstByteMs,
    delaysMs: arrived.map((arrivedMs, index) => arrivedMs - (sent[index] ?? Number.NaN)),
    waited: arrived.filter((arrivedMs, index) => arrivedMs >= (sent[index + 1] ?? Infinity)).length,
  }
}
