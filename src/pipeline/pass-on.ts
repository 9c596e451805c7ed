import type { Readable } from 'node:stream'
import { ClientGoneError } from '../errors.ts'
import type { BegunRow } from '../telemetry/journal/rows.ts'
import { unreadAnswer } from '../telemetry/request-report.ts'
import type { Answer } from '../upstream/upstreams.ts'
import { type Arrival, bareReport, clientOf } from './bare-report.ts'
import type { ClientAnswer, ClientRequest } from './client-request.ts'
import { refuseWayAround } from './confinement.ts'
import type { RequestParts } from './request-parts.ts'
import type { ArrivedRequest, UnreadReason } from './request.ts'

// Requests that go on as they came, and their answers too.

/** What passing on works with: the same for every request. */
export type RelayParts = Pick<RequestParts, 'upstreams' | 'failures' | 'nowMs' | 'reports'> & {
  readonly warnings: Pick<RequestParts['warnings'], 'uncompacted'>
}

/** Passes on a request that is no conversation, as a stream. */
export async function relay(request: ClientRequest, parts: RelayParts): Promise<ClientAnswer> {
  const { rights, route } = request
  const { reports, warnings } = parts
  const uncompacted = route.kind === 'relay' ? route.uncompacted : null
  const tell = (action: 'relayed' | 'refused' | 'left'): void =>
    reports.relayed(uncompacted ?? 'other', action, clientOf(request))
  try {
    if (rights !== null) refuseWayAround(rights, request)
    if (uncompacted !== null) warnings.uncompacted(uncompacted)
    const answer = await sendStream(request, parts)
    tell('relayed')
    const headers = { 'x-foldgate-action': uncompacted === null ? 'relayed' : 'relayed;reason=path' }
    return { answer, held: [], headers, transform: null, tap: null, ended: () => {} }
  } catch (error) {
    tell(error instanceof ClientGoneError ? 'left' : 'refused')
    throw error
  }
}

/** Passes on a conversation that its client wants left alone, as a stream. */
export async function relayConversation(
  request: ClientRequest,
  arrival: Arrival,
  parts: RequestParts,
): Promise<ClientAnswer> {
  const send = (): Promise<Answer> => sendStream(request, parts)
  return sendUntouched({ request, arrival, action: 'bypassed', reason: null, send }, parts)
}

/** Sends a body as it came: if it cannot be read with certainty, the upstream judges it. */
export async function sendUnread(
  { exchange: request, dialect, body, turn, arrival }: ArrivedRequest,
  unread: UnreadReason,
  parts: RequestParts,
): Promise<ClientAnswer> {
  const { upstreams, warnings } = parts
  turn.end()
  if (unread === 'stateful' && dialect.howToSendAll !== null) warnings.stateful(dialect.howToSendAll)
  const told =
    unread === 'failed'
      ? ({ action: 'failed-open', reason: 'reading' } as const)
      : ({ action: 'relayed', reason: unread } as const)
  const send = (): Promise<Answer> =>
    upstreams.send({ ...request, upstream: request.upstreamName, body: body.raw })
  return sendUntouched({ request, arrival, ...told, send, release: body.release }, parts)
}

/** Sends a request of which nothing was measured, and passes its answer on as it is. */
export async function sendUntouched(
  { request, arrival, action, reason, send, release }: Untouched,
  { reports }: Pick<RequestParts, 'reports'>,
): Promise<ClientAnswer> {
  const sentAtMs = performance.now()
  const answer = await send()
  const bare = bareReport(request, arrival)
  const row = {
    ...bare.row,
    action,
    reason,
    status: answer.status,
    added_ms: sentAtMs - arrival.monotonicMs,
    first_byte_ms: performance.now() - sentAtMs,
    beyond_window: answer.status < 400 ? false : null,
    attempts: 1,
  }
  const report = { ...bare, row }
  reports.begin(report, null)
  return {
    answer,
    held: [],
    headers: { 'x-foldgate-action': reason === null ? action : `${action};reason=${reason}` },
    transform: null,
    tap: null,
    ended: ({ outcome }) => {
      release?.()
      reports.end(report, { outcome, ...unreadAnswer })
    },
  }
}

// --- internal ---

type Untouched = Pick<BegunRow, 'action' | 'reason'> & {
  readonly request: ClientRequest
  readonly arrival: Arrival
  readonly send: () => Promise<Answer>
  readonly release?: () => void
}

async function sendStream(request: ClientRequest, { upstreams }: RelayParts): Promise<Answer> {
  const { signal, upstreamName: upstream } = request
  try {
    const body: Buffer | Readable | null = await request.body.open()
    const bodyBytes = body === null ? null : request.body.declaredBytes
    return await upstreams.send({ ...request, upstream, body, bodyBytes })
  } catch (error) {
    // An upload that is cut off on account of the client is told as a failure of the upstream's, too.
    throw signal.aborted ? signal.reason : error
  }
}
