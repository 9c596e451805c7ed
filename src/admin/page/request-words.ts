import type { UsageRow } from '../../telemetry/journal/rows.ts'
import { sendAllAdvice } from '../send-all.ts'
import { html, type HtmlEscapedString, percent } from './markup.ts'

/** What of a request says how it went. */
export type ToldRequest = Pick<UsageRow, 'action' | 'reason' | 'status'> & {
  readonly outcome?: UsageRow['outcome']
  readonly dialect?: UsageRow['dialect']
  readonly path?: string | null
}

/** How a request went, in words. */
export type RequestWords = {
  /** What was done with it. */
  readonly words: string
  /** What failed after that; null if nothing did. */
  readonly trouble: string | null
  /** What would have it compacted, or mends what went wrong; null where nothing is to be done. */
  readonly advice: string | null
  /** Of what was done. `failed`: it was not sent, or a part of Foldgate failed. `stepped-back`: it went another way. */
  readonly level: 'calm' | 'stepped-back' | 'failed'
}

/** What was done with a request and what came of it. */
export function requestWords(request: ToldRequest): RequestWords {
  const done = doneWords(request)
  if (request.outcome === 'broken-off') return { ...done, trouble: 'the answer broke off' }
  const { status } = request
  if (status === null || status < 400 || request.action === 'refused') return done
  return { ...done, trouble: `the upstream answered ${status}` }
}

/** The same in one line. */
export function requestLine(request: ToldRequest): string {
  const { words, trouble } = requestWords(request)
  return trouble === null ? words : `${words}; ${trouble}`
}

/** @internal exported for tests. Whether the client did not get what it asked for, or a part of Foldgate failed. */
export function hasFailed(request: ToldRequest): boolean {
  const { level, trouble } = requestWords(request)
  return level === 'failed' || trouble !== null
}

/**
 * How much of the budget was sent, as a bar with its number, and behind it in grey how much had come. The line in it is the
 * budget; what exceeds the drawing is told by the number only. What was sent gives it its colour: a conversation of many
 * times the window that was compacted and answered is well.
 */
export function gauge(of: Gauged): HtmlEscapedString {
  const { pressure, sent_pressure: sentPressure } = of
  if (pressure === null) return html`<span class="gauge none">not measured</span>`
  const sent = sentPressure ?? pressure
  const asCame = sent === pressure ? '' : `, of ${percent(pressure)} that came`
  return html`<span class="gauge ${levelOf(of, sent)}">
    <svg
      viewBox="0 0 ${WIDTH} 14"
      width="${WIDTH}"
      height="14"
      role="img"
      aria-label="${percent(sent)} of the budget sent${asCame}"
    >
      <rect class="track" x="0" y="4" width="${WIDTH}" height="6" rx="1" />
      <rect class="came" x="0" y="4" width="${placeOf(pressure)}" height="6" rx="1" />
      <rect class="sent" x="0" y="4" width="${placeOf(sent)}" height="6" rx="1" />
      <line class="budget" x1="${placeOf(1)}" x2="${placeOf(1)}" y1="1" y2="13" />
    </svg>
    <span class="number" aria-hidden="true">${percent(sent)}</span>
  </span>`
}

// --- internal ---

type Gauged = ToldRequest & {
  readonly pressure: number | null
  readonly sent_pressure: number | null
}

function doneWords({ action, reason, dialect, path }: ToldRequest): RequestWords {
  if (action === 'relayed' && reason === 'path')
    return calm(
      `sent unread: ${path ?? 'this path'} is not compacted`,
      'have the client use /chat/completions, /responses or /messages',
    )
  if (action === 'relayed' && reason === 'stateful')
    return calm('sent unread: its history lies at the server', sendAllAdvice(dialect))
  if (action === 'refused') return failed(reason === null ? 'not sent' : `refused: ${reason}`)
  const known = words.get(reason === null ? action : `${action};${reason}`)
  if (known !== undefined) return known
  const plain = words.get(action)
  if (plain === undefined) return calm(reason === null ? action : `${action}: ${reason}`)
  return reason === null ? plain : { ...plain, words: `${plain.words}: ${reason}` }
}

const told =
  (level: RequestWords['level']) =>
  (said: string, advice: string | null = null): RequestWords => ({
    words: said,
    trouble: null,
    advice,
    level,
  })
const [calm, steppedBack, failed] = [told('calm'), told('stepped-back'), told('failed')]

const atClient = 'the client has to send it otherwise'
const reportIt = 'the log line “a part of Foldgate failed” says more; please report it'
const limits = 'raise what limits says of it in foldgate.yaml'

/** By action, with its reason where there is one. */
const words: ReadonlyMap<string, RequestWords> = new Map(
  Object.entries({
    relayed: calm('sent as it came'),
    'relayed;billing-line': calm('sent as it came, but for its billing line'),
    'relayed;output-limit': calm('sent as it came, with a lower output limit'),
    'relayed;observe': calm('sent as it came: the profile only observes', 'take observe out of the profile'),
    'relayed;subscription': calm(
      'sent as it came: a subscription pays',
      'use an API key, or set messages.subscriptions: rewrite',
    ),
    'relayed;off': calm(
      'sent as it came: the client wants it so',
      'the client sends x-foldgate-compact: off; take that out',
    ),
    'relayed;refused-before': steppedBack(
      'sent as it came: the upstream refused a compacted form',
      'template: strict in the profile may help',
    ),
    'relayed;native': calm(
      'sent unread: the server compacts it itself',
      'take context_management out of the client, or leave it',
    ),
    'relayed;encoding': calm(
      'sent unread: its content coding is not known',
      'have the client send plain JSON, gzip, deflate, br or zstd',
    ),
    'relayed;not-utf8': calm('sent unread: its body is not UTF-8', atClient),
    'relayed;bom': calm('sent unread: its body begins with a byte order mark', atClient),
    'relayed;not-json-object': calm('sent unread: its body is no JSON object', atClient),
    'relayed;duplicate-key': calm('sent unread: its body has a key twice', atClient),
    'relayed;invalid-value': calm('sent unread: a short value of its body is very long', atClient),
    'relayed;too-deep': calm('sent unread: its body is too deep', limits),
    'relayed;too-many-elements': calm('sent unread: its body has too many elements', limits),
    'relayed;too-many-keys': calm('sent unread: its body has too many keys', limits),
    'relayed;too-many-messages': calm('sent unread: it has too many messages', limits),
    'relayed;too-many-parts': calm('sent unread: a message has too many parts', limits),
    'relayed;no-messages': calm('sent unread: it has no messages', atClient),
    'relayed;message-unreadable': calm('sent unread: one of its messages cannot be read', atClient),
    compacted: calm('compacted'),
    'compacted;repair': calm('repaired'),
    'compacted;thoughts': calm('sent without thoughts that no longer hold'),
    'recovered;fallback': calm(
      'answered by the larger model that the profile names, since no form of it would fit',
    ),
    recovered: calm('compacted after the upstream refused it as too long'),
    'restored;original': steppedBack(
      'sent as it came, after the upstream refused a compacted form',
      'template: strict in the profile may help',
    ),
    'restored;strict': steppedBack(
      'sent in another order, after the upstream refused the first',
      'template: strict in the profile saves the second request',
    ),
    'restored;thoughts': steppedBack('sent without old thoughts, after the upstream refused them'),
    restored: steppedBack('sent in another form, after the upstream refused one'),
    bypassed: calm(
      'sent unread: the client wants it so',
      'the client sends x-foldgate-bypass; take that out',
    ),
    'bypassed;thoughts': calm(
      'sent unread, but for thoughts that no longer hold: the client wants it so',
      'the client sends x-foldgate-bypass; take that out',
    ),
    'failed-open': failed('sent as it came: a part of Foldgate failed', reportIt),
    'failed-open;reading': failed('sent unread: reading it failed', reportIt),
    'failed-open;measure': failed('sent as it came: measuring it failed', reportIt),
    'failed-open;compaction': failed('sent as it came: compacting it failed', reportIt),
    left: calm('the client left before an answer'),
  }),
)

/** Of the drawing, in its own units. */
const WIDTH = 120

/** The pressure at the end of the drawing. */
const PRESSURE_MAX = 1.25

/** More than the budget that was answered all the same shows a budget that is too small; else it cannot fit. */
function levelOf(of: Gauged, sent: number): 'calm' | 'high' | 'critical' {
  if (sent <= 1) return 'calm'
  return hasFailed(of) ? 'critical' : 'high'
}

function placeOf(pressure: number): number {
  return Math.round((Math.min(Math.max(pressure, 0), PRESSURE_MAX) / PRESSURE_MAX) * WIDTH * 10) / 10
}
