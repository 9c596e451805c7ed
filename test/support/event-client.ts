import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'

/** A message of a stream of server-sent events. */
export type ServerSentEvent = { readonly id: string | null; readonly data: unknown }

export type EventClient = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** What has come so far. */
  readonly events: readonly ServerSentEvent[]
  /** Everything that has come, as text. */
  readonly text: () => string
  readonly hasEnded: () => boolean
  readonly leave: () => void
}

/** Opens a stream of server-sent events and reads it as a browser does, data as JSON. */
export async function listenTo(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventClient> {
  const outgoing = request(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false })
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
    outgoing.end()
  })
  const events: ServerSentEvent[] = []
  let text = ''
  let unread = ''
  let hasEnded = false
  incoming.setEncoding('utf8')
  incoming.on('data', (piece: string) => {
    text += piece
    const blocks = (unread + piece).split('\n\n')
    unread = blocks.pop() ?? ''
    events.push(...blocks.flatMap(eventIn))
  })
  incoming.on('error', () => {
    // That it was cut is told by `close`.
  })
  incoming.once('close', () => {
    hasEnded = true
  })
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    events,
    text: () => text,
    hasEnded: () => hasEnded,
    leave: () => void outgoing.destroy(),
  }
}

// --- internal ---

function eventIn(block: string): ServerSentEvent[] {
  const field = (name: string): string | null => {
    const line = block.split('\n').find((each) => each.startsWith(`${name}: `))
    return line === undefined ? null : line.slice(name.length + 2)
  }
  const data = field('data')
  return data === null ? [] : [{ id: field('id'), data: JSON.parse(data) as unknown }]
}
