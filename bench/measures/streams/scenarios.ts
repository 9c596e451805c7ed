import { median, percentile } from '../../figures.ts'
import { chatBody } from '../../load/bodies.ts'
import { freshRequests } from '../../load/fresh-requests.ts'
import { streamModel } from '../../load/models.ts'
import { runStreams, type StreamSample } from '../../load/paced.ts'
import type { Subject } from '../../subjects/subject.ts'

/** Streams of one kind. */
export type StreamScenario = {
  readonly caption: string
  readonly connections: number
  readonly chunks: number
  /** Between two chunks, in milliseconds. */
  readonly gapMs: number
}

/** What the streams of one subject came to. */
export type StreamFigures = {
  readonly headMs: number
  readonly firstByteMs: number
  readonly slowFirstByteMs: number
  readonly delayMs: number
  readonly slowDelayMs: number
  readonly waited: number
  readonly chunks: number
}

const BODY_BYTES = 2000
const CHUNKS = 50
const CHUNKS_QUICK = 10

/** 256 streams get fewer chunks a second each: what is to be seen is the delay, not the upstream's limit. */
export function streamScenarios(isQuick: boolean): readonly StreamScenario[] {
  const chunks = isQuick ? CHUNKS_QUICK : CHUNKS
  return [
    {
      caption: 'Short streams, one after the other: 3 chunks 1 ms apart',
      connections: 1,
      chunks: 3,
      gapMs: 1,
    },
    { caption: `Paced streams: ${chunks} chunks 10 ms apart`, connections: 1, chunks, gapMs: 10 },
    { caption: `Paced streams: ${chunks} chunks 10 ms apart`, connections: 32, chunks, gapMs: 10 },
    { caption: `Many paced streams: ${chunks} chunks 50 ms apart`, connections: 256, chunks, gapMs: 50 },
  ]
}

/** A streamed chat that nobody has asked before. */
export function streamRequests(
  subject: Subject,
  stream: { chunks: number; gapMs: number; silenceMs: number },
  connections: number,
): (connection: number) => Buffer {
  return freshRequests({
    path: '/v1/chat/completions',
    body: chatBody(BODY_BYTES, { model: streamModel(stream), stream: true }),
    headers: subject.headers,
    connections,
  })
}

/** Streams of one kind through a subject, for a while. */
export async function measureStreams(
  subject: Subject,
  scenario: StreamScenario,
  durationMs: number,
): Promise<StreamFigures> {
  const { connections, chunks, gapMs } = scenario
  const samples = await runStreams({
    origin: subject.origin,
    request: streamRequests(subject, { chunks, gapMs, silenceMs: 0 }, connections),
    connections,
    durationMs,
    staggerMs: chunks * gapMs,
    chunks,
  })
  const each = (figure: (sample: StreamSample) => number): number[] => samples.map(figure)
  const delaysMs = samples.flatMap((sample) => sample.delaysMs)
  const firstBytesMs = each(({ firstByteMs }) => firstByteMs)
  return {
    headMs: median(each(({ headMs }) => headMs)),
    firstByteMs: median(firstBytesMs),
    slowFirstByteMs: percentile(firstBytesMs, 0.99),
    delayMs: median(delaysMs),
    slowDelayMs: percentile(delaysMs, 0.99),
    waited: each(({ waited }) => waited).reduce((sum, waited) => sum + waited, 0),
    chunks: delaysMs.length,
  }
}
