import { alignedTable } from '../../support/aligned-table.ts'
import type { Held, TallyGroup } from './tally.ts'

/** A row for each form, the total, and what it looks like by place and language; two columns for each half. */
export function tableOf({ windowTokens, chatTokens, strategy, halves }: TallyGroup): string {
  const title = `${strategy}: window ${whole(windowTokens)}, chats of ${whole(chatTokens)} tokens`
  const head = ['', ...halves.flatMap(({ half }) => [half, ''])]
  const names = halves[0]?.tally.rows.map(({ name }) => name) ?? []
  const cells = names.map((name, place) => [
    name,
    ...halves.flatMap(({ tally }) => heldCells(tally.rows[place] ?? { asked: 0, held: 0 })),
  ])
  return `\n${title}\n${alignedTable([head, ...cells])}\n`
}

// --- internal ---

function heldCells({ asked, held }: Held): readonly [string, string] {
  if (asked === 0) return ['', '–']
  // Rounded down: 95.0 is enough.
  return [`${held} of ${asked}`, `${(Math.floor((1000 * held) / asked) / 10).toFixed(1)} %`]
}

function whole(number: number): string {
  return number.toLocaleString('en-US')
}
