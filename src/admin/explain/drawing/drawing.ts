import type { Explanation } from '../explanation.ts'
import { drawBars } from './bars.ts'
import { drawHeadline } from './headline.ts'
import { fitted, painted, wrapped, type Paper } from './ink.ts'
import { drawMessages } from './message-table.ts'
import { drawRuler } from './ruler.ts'
import { escaped } from '../../../log/log.ts'

/** An explanation for people, as lines of text without a newline at the end. Nothing that a message says stands in it. */
export function drawExplanation(explanation: Explanation, paper: Paper): string {
  const sections = [
    drawHeadline(explanation, paper),
    drawBars(explanation, paper),
    drawRuler(explanation, paper),
    drawMessages(explanation.messages, paper),
    ...explanation.warnings.map(({ message }) => drawWarning(message, paper)),
  ]
  return sections.map((lines) => lines.map((line) => fitted(paper, line)).join('\n')).join('\n\n')
}

// --- internal ---

const WARNING_COLUMNS = 10

function drawWarning(message: string, paper: Paper): readonly string[] {
  const lines = wrapped(escaped(message), Math.max(20, paper.columns - WARNING_COLUMNS))
  return lines.map(
    (line, at) => painted(paper, 'yellow', (at === 0 ? 'warning' : '').padEnd(WARNING_COLUMNS)) + line,
  )
}
