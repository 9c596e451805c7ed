import type { Figure } from './agreement.ts'
import { figure } from './figure.ts'
import type { Walk } from './walk.ts'

/** The messages of the last request as the page shows them, and as the upstream received them. */
export function messageFigures({ requests, books }: Walk): readonly Figure[] {
  const latest = books.details.toSorted((one, other) => (one.last_seen < other.last_seen ? 1 : -1))[0]
  const shown = (latest?.messages ?? []).flatMap(({ sent }) => (sent === null ? [] : [sent]))
  const received = requests.at(-1)?.rawMessages ?? []
  const same = shown.filter((text, place) => isShown(text, received[place] ?? '')).length
  const treated = (latest?.messages ?? []).filter(({ index }) => index !== null).length
  const row = latest?.rows.at(-1)
  return [
    figure(
      'messages of the last request',
      { upstream: received.length, journal: row?.messages_sent ?? 'none', pages: shown.length },
      shown.length === received.length && row?.messages_sent === received.length,
    ),
    figure('  with the same text', { upstream: received.length, pages: same }, same === received.length),
    figure(
      '  received',
      { journal: row?.messages_received ?? 'none', pages: treated },
      row?.messages_received === treated,
    ),
  ]
}

// --- internal ---

/** Whether the page shows this text, all of it or its beginning with the length of the rest. */
function isShown(shown: string, text: string): boolean {
  if (shown === text) return true
  const [, beginning = '', rest = ''] = /^(.*)… \((\d+) more characters\)$/s.exec(shown) ?? []
  return rest !== '' && text.startsWith(beginning) && text.length === beginning.length + Number(rest)
}
