import { fitted, grouped, wrapped } from '../../telemetry/log/lines.ts'
import { ChatError } from './http-client.ts'
import type { ChatAnswer } from './client-wire.ts'

export type Output = {
  readonly write: (text: string) => void
  /** Width of a line in characters. */
  readonly columns: number
  /** Whether colours may be used; without them the output is plain text. */
  readonly color: boolean
}

export type Drawing = ReturnType<typeof openDrawing>

/** Draws a run: one line a request, nothing that moves, so that it reads the same in a file. */
export function openDrawing(screen: Output) {
  const barColumns = screen.columns >= 100 ? 24 : 12
  const paint = (color: number, text: string) => (screen.color ? `\u001B[${color}m${text}\u001B[0m` : text)
  /** One line, cut where it is too long. */
  const line = (text = '') => screen.write(`${fitted(text, screen.columns)}\n`)

  return {
    line,
    /** Lines of text as wide as the terminal. */
    text: (text: string) => wrapped(text, screen.columns).forEach((part) => line(part)),
    /** A short name in front, and lines of text beside it. */
    section(name: string, lines: readonly string[]) {
      for (const [index, text] of lines.entries()) {
        for (const [part, beside] of wrapped(text, screen.columns - SECTION_COLUMNS).entries()) {
          const label = index === 0 && part === 0 ? name : ''
          line(`${paint(BOLD, label.padEnd(SECTION_COLUMNS))}${beside}`)
        }
      }
    },
    heading() {
      const bar = (barColumns > 12 ? 'sent, of the window' : 'of window').padEnd(barColumns)
      line(paint(DIM, row(['turn', 'req', 'tokens', 'sent', bar, 'press', 'cached', 'what was done'])))
    },
    /** A request, which is added to the sums. */
    request(tally: Tally, turn: number, answer: ChatAnswer | ChatError) {
      tally.requests += 1
      if (answer instanceof ChatError) {
        tally.failed += 1
        tally.failedInARow += 1
        const where = `${String(turn).padStart(4)}${String(tally.requests).padStart(5)}`
        line(paint(RED, `${where}  failed: ${answer.message}`))
        return
      }
      const figures = addAnswer(tally, answer)
      const share = tally.windowTokens === 0 ? 0 : figures.sentTokens / tally.windowTokens
      const filled = Math.min(barColumns, Math.round(share * barColumns))
      const bar = paint(
        share < 0.6 ? GREEN : share < 0.85 ? YELLOW : RED,
        `${'█'.repeat(filled)}${'░'.repeat(barColumns - filled)}`,
      )
      const { pressure, action, passes } = figures.headers
      const cached = figures.sentTokens === 0 ? 0 : figures.cachedTokens / figures.sentTokens
      const done = passes.length === 0 ? (action ?? '') : `${action}: ${passes.join(', ')}`
      line(
        row([
          String(turn),
          String(tally.requests),
          grouped(figures.conversationTokens),
          grouped(figures.sentTokens),
          bar,
          pressure === null ? '' : wholePercent(pressure),
          wholePercent(cached),
          figures.isCompaction ? paint(BOLD, `${done} ◂`) : paint(DIM, done),
        ]),
      )
    },
  }
}

/** The sums of a run. */
export type Tally = ReturnType<typeof openTally>

/** `windowTokens`: until an answer says what the window is. */
export function openTally(windowTokens: number) {
  return {
    windowTokens,
    requests: 0,
    failed: 0,
    failedInARow: 0,
    factsKept: 0,
    compactions: 0,
    recovered: 0,
    conversationTokens: 0,
    sentTokens: 0,
    cachedTokens: 0,
    largestConversationTokens: 0,
    largestSentTokens: 0,
    lastSentTokens: 0,
  }
}

/** The tokens that were sent and what they cost, as a sentence. */
export function costText({ sentTokens, cachedTokens }: Tally): string {
  // Cached tokens cost about a tenth at most providers.
  const weighted = grouped(sentTokens - cachedTokens * 0.9)
  return `${wholePercent(cachedTokens / Math.max(1, sentTokens))} of them from the prompt cache: as dear as ${weighted} with cached tokens at a tenth.`
}

/** @internal exported for tests. What Foldgate says it did with a request, read from the headers of the answer. */
export function readFoldgateHeaders(header: (name: string) => string | null) {
  const [action] = (header('x-foldgate-action') ?? '').split(';')
  const passes = (header('x-foldgate-passes') ?? '').split(',').map((pass) => pass.trim())
  // "<N" stands for a count that was not needed: it is known to be below N.
  const tokens = /^\s*(<?)(\d+)(?:\s*;\s*sent=(<?)(\d+))?/.exec(header('x-foldgate-tokens') ?? '')
  const pressure = Number.parseFloat(header('x-foldgate-pressure') ?? '')
  const window = Number.parseInt(header('x-foldgate-window') ?? '', 10)
  return {
    /** `relayed`, `compacted`, …; null where the answer does not come from Foldgate. */
    action: action === undefined || action === '' ? null : action,
    passes: passes.filter((pass) => pass !== '' && pass !== 'none'),
    /** Tokens of the conversation that came in; null where it was not counted. */
    conversationTokens: tokens?.[1] === '' ? Number(tokens[2]) : null,
    /** A bound above the conversation's tokens, where they were not counted. */
    conversationTokensBelow: tokens?.[1] === '<' ? Number(tokens[2]) : null,
    sentTokens: tokens?.[3] === '' && tokens[4] !== undefined ? Number(tokens[4]) : null,
    /** Of the incoming conversation, as a ratio. */
    pressure: Number.isNaN(pressure) ? null : pressure,
    windowTokens: Number.isNaN(window) ? null : window,
    summary: header('x-foldgate-summary'),
  }
}

// --- internal ---

/** Adds an answered request to the sums; what it says about tokens. */
function addAnswer(tally: Tally, answer: ChatAnswer) {
  tally.failedInARow = 0
  const headers = readFoldgateHeaders(answer.header)
  tally.windowTokens = headers.windowTokens ?? tally.windowTokens
  // The server's own count of what reached it comes first; what was not counted was sent as it came in.
  const sentTokens = answer.usage?.promptTokens ?? headers.sentTokens ?? headers.conversationTokensBelow ?? 0
  const conversationTokens = headers.conversationTokens ?? sentTokens
  const cachedTokens = answer.usage?.cachedTokens ?? 0
  // Less was sent than for the request before: the conversation was compacted further.
  const isCompaction = sentTokens < tally.lastSentTokens && conversationTokens > sentTokens
  if (isCompaction) tally.compactions += 1
  if (headers.action === 'recovered') tally.recovered += 1
  tally.conversationTokens += conversationTokens
  tally.sentTokens += sentTokens
  tally.cachedTokens += cachedTokens
  tally.largestConversationTokens = Math.max(tally.largestConversationTokens, conversationTokens)
  tally.largestSentTokens = Math.max(tally.largestSentTokens, sentTokens)
  tally.lastSentTokens = sentTokens
  return { headers, conversationTokens, sentTokens, cachedTokens, isCompaction }
}

function wholePercent(ratio: number): string {
  return `${Math.round(ratio * 100)}%`
}

const SECTION_COLUMNS = 18
const BOLD = 1
const DIM = 2
const RED = 31
const GREEN = 32
const YELLOW = 33

type Cells = readonly [string, string, string, string, string, string, string, string]

function row([turn, request, conversation, sent, bar, pressure, cached, done]: Cells): string {
  const figures = `${turn.padStart(4)}${request.padStart(5)}${conversation.padStart(9)}${sent.padStart(8)}`
  return `${figures}  ${bar}${pressure.padStart(6)}${cached.padStart(8)}  ${done}`
}
