import type { Figure } from './agreement.ts'
import { figure } from './figure.ts'
import type { Walk } from './walk.ts'

/** The messages of the last request as the page shows them, and as the upstream received them. */
export function messageFigures({ requests, books }: Walk): readonly Figure[] {
  const latest = books.details.toSorted((one, other) => (one.last_seen < other.last_seen ? 1 : -1))[0]
  const shown = (latest?.messages ?? []).flatMap(({ sent }) => (sent === null ? [] : [sent]))
  const received = (requests.at(-1)?.rawMessages ?? []).map(shortened)
  const same = shown.filter((text, place) => text === received[place]).length
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

/** As the page cuts long texts. */
const TEXT_CHARS_MAX = 20_000

function shortened(text: string): string {
  if (text.length <= TEXT_CHARS_MAX) return text
  return `${text.slice(0, TEXT_CHARS_MAX)}… (${text.length - TEXT_CHARS_MAX} more characters)`
}
