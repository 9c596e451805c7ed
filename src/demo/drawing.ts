import { stripVTControlCharacters } from 'node:util'
import { grouped } from '../log/grouped.ts'
import { ChatError } from './chat-client.ts'
import type { ChatAnswer } from './chat.ts'
import { addAnswer, addFailure, wholePercent, type Tally } from './tally.ts'

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
  const line = (text = '') => screen.write(`${cut(text.trimEnd(), screen.columns)}\n`)

  return {
    line,
    /** Lines of text as wide as the terminal. */
    text: (text: string) => wrap(text, screen.columns).forEach((part) => line(part)),
    /** A short name in front, and lines of text beside it. */
    section(name: string, lines: readonly string[]) {
      for (const [index, text] of lines.entries()) {
        for (const [part, wrapped] of wrap(text, screen.columns - SECTION_COLUMNS).entries()) {
          const label = index === 0 && part === 0 ? name : ''
          line(`${paint(BOLD, label.padEnd(SECTION_COLUMNS))}${wrapped}`)
        }
      }
    },
    heading() {
      const bar = (barColumns > 12 ? 'sent, of the window' : 'of window').padEnd(barColumns)
      line(paint(DIM, row(['turn', 'req', 'tokens', 'sent', bar, 'press', 'cached', 'what was done'])))
    },
    /** A request, which is added to the sums. */
    request(tally: Tally, turn: number, answer: ChatAnswer | ChatError) {
      if (answer instanceof ChatError) {
        addFailure(tally)
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

// --- internal ---

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

/** Cuts a line to the terminal's width, unless colours stand in it and it fits without them. */
function cut(text: string, columns: number): string {
  const plain = stripVTControlCharacters(text)
  return plain.length <= columns ? text : `${plain.slice(0, Math.max(0, columns - 1))}…`
}

function wrap(text: string, columns: number): readonly string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
