import { openConversation, type GrowingOptions } from '../../conversations/growing-conversation.ts'
import { checkOf } from '../check-of.ts'
import { makeKnown, takeTurns, type Turns } from '../../conversations/turns.ts'
import { median, spreadOf } from '../../figures.ts'
import type { Check, MeasureOptions, Table } from '../../section.ts'
import { shown, shownSpread } from '../../shown.ts'
import type { Subject } from '../../subjects/subject.ts'

export type WarmSubjects = {
  readonly direct: Subject
  readonly buffered: Subject
  readonly parsing: Subject
  readonly inMemory: Subject
  /** Foldgate as it is by default: its records in a SQLite file. */
  readonly foldgate: Subject
}

type Size = {
  readonly name: string
  readonly bytes: number
  /** Of its checks; null where it has none. */
  /** Null if nothing is asked of it; `most`: what a turn may take of the buffered relay's time. */
  readonly check: { readonly id: string; readonly most: number } | null
  readonly options?: Partial<GrowingOptions>
}

const MEGABYTE = 1_000_000

const sizes: readonly Size[] = [
  { name: '1 MB', bytes: MEGABYTE, check: { id: '1mb', most: 1.3 } },
  { name: '4 MB', bytes: 4 * MEGABYTE, check: { id: '4mb', most: 1.05 } },
  { name: '4 MB, tools first', bytes: 4 * MEGABYTE, check: null, options: { toolsFirst: true } },
  { name: '16 MB', bytes: 16 * MEGABYTE, check: { id: '16mb', most: 0.7 } },
]

const WARM_TURNS = 10
const TURNS_MIN = 7

/** What a warm turn costs at fixed sizes, beside relays that do nothing, and one that parses. */
export async function bySize(
  subjects: WarmSubjects,
  { effort, tell }: MeasureOptions,
): Promise<{ readonly table: Table; readonly checks: readonly Check[] }> {
  const { direct, buffered, parsing, inMemory, foldgate } = subjects
  const compared = [direct, buffered, parsing, inMemory, foldgate]
  const rows: string[][] = []
  const checks: Check[] = []
  for (const [index, size] of sizes.entries()) {
    tell(`warm turns at ${size.name}`)
    const conversation = openConversation({ seed: 100 + index, ...size.options })
    conversation.growTo(size.bytes)
    for (const subject of compared) await makeKnown(subject, conversation, WARM_TURNS)
    const rounds: (readonly Turns[])[] = []
    for (let round = 0; round < effort.rounds; round += 1) {
      rounds.push(
        await takeTurns({
          subjects: compared,
          conversation,
          grow: () => conversation.addRound(),
          turnsMin: TURNS_MIN,
          durationMs: effort.durationMs,
        }),
      )
    }
    const ratios = (to: Subject): number[] =>
      rounds.map((turns) => of(turns, foldgate).medianMs / of(turns, to).medianMs)
    const of = (turns: readonly Turns[], subject: Subject): Turns =>
      turns[compared.indexOf(subject)] ?? missing()
    for (const subject of compared) {
      const own = rounds.map((turns) => of(turns, subject))
      const toBuffered = rounds.map((turns) => of(turns, subject).medianMs / of(turns, buffered).medianMs)
      const cpuMs = own.flatMap(({ cpuMsPerTurn }) => (cpuMsPerTurn === null ? [] : [cpuMsPerTurn]))
      rows.push([
        size.name,
        subject.name,
        shown(median(own.map(({ medianMs }) => medianMs))),
        shownSpread(spreadOf(own.map(({ medianMs }) => medianMs))),
        shown(Math.max(...own.flatMap(({ latenciesMs }) => latenciesMs))),
        shown(median(cpuMs)),
        shown(median(toBuffered)),
        shownSpread(spreadOf(toBuffered)),
      ])
    }
    const { check } = size
    if (check === null) continue
    checks.push(
      checkOf(
        `warm-${check.id}`,
        `A warm turn of a compacted conversation of ${size.name}, against passing it on buffered`,
        { kind: 'at most', value: check.most },
        ratios(buffered),
      ),
      checkOf(
        `warm-parse-${check.id}`,
        `The same at ${size.name}, against parsing, hashing every message and stringifying`,
        { kind: 'at most', value: ONE_SEVENTH },
        ratios(parsing),
      ),
    )
  }
  return { table: { caption: 'A warm turn by size', columns, rows }, checks }
}

// --- internal ---

const ONE_SEVENTH = 0.143

const columns = [
  'body',
  'subject',
  'median ms',
  'medians of the rounds, ms',
  'longest ms',
  'CPU ms a turn',
  'of the buffered relay',
  'in the rounds',
]

function missing(): never {
  throw new Error('every subject has its turns')
}
