import { openConversation } from '../conversations/growing-conversation.ts'
import { median, spreadOf } from '../figures.ts'
import { openConnection } from '../load/load.ts'
import type { Check, MeasureOptions, Table } from '../section.ts'
import { shown, shownSpread } from '../shown.ts'
import { cpuMicroseconds } from '../subjects/process-figures.ts'
import type { Subject } from '../subjects/subject.ts'
import { inTurn } from '../subjects/with-subjects.ts'
import { checkOf } from './check-of.ts'
import { startCompactingFoldgate } from './warm/compacting.ts'

/** What the whole run of an agent costs in a small window, this checkout beside another one. */
export async function besideAgent(
  { effort, upstreamOrigin, tell }: MeasureOptions,
  checkout: string,
): Promise<{ readonly table: Table; readonly check: Check }> {
  const other = await startCompactingFoldgate(upstreamOrigin, { checkout, windowTokens: WINDOW_TOKENS })
  const own = await startCompactingFoldgate(upstreamOrigin, { windowTokens: WINDOW_TOKENS })
  const runs = effort.isQuick ? 2 : RUNS
  const pairs: { readonly before: number; readonly after: number }[] = []
  try {
    // The first is there to have the code compiled.
    for (let run = 0; run <= runs; run += 1) {
      tell(`an agent's run in a window of ${WINDOW_TOKENS}, ${run} of ${runs}`)
      const cpu = new Map<Subject, number>()
      for (const subject of inTurn([other, own], run)) cpu.set(subject, await cpuOfRun(subject, run))
      if (run > 0) pairs.push({ before: cpu.get(other) ?? Number.NaN, after: cpu.get(own) ?? Number.NaN })
    }
  } finally {
    await own.stop()
    await other.stop()
  }
  const ratios = pairs.map(({ before, after }) => after / before)
  return {
    table: {
      caption: `An agent's run of ${ROUNDS} requests in a window of ${WINDOW_TOKENS.toLocaleString('en')} tokens, ${runs} runs`,
      columns: ['the other, CPU ms a request', 'this one, CPU ms a request', 'ratio', 'in the runs'],
      rows: [
        [
          shown(median(pairs.map(({ before }) => before))),
          shown(median(pairs.map(({ after }) => after))),
          shown(median(ratios)),
          shownSpread(spreadOf(ratios)),
        ],
      ],
    },
    check: checkOf(
      'beside-agent',
      `CPU of a request in an agent's run in a window of ${WINDOW_TOKENS} tokens, against the other checkout`,
      { kind: 'at most', value: 0.7 },
      ratios,
    ),
  }
}

// --- internal ---

const WINDOW_TOKENS = 16_000

const RUNS = 9

/** Requests of a run: each is one call and its result longer than the one before, 2 kB. */
const ROUNDS = 150

/** Of a request, in milliseconds. */
async function cpuOfRun(subject: Subject, run: number): Promise<number> {
  if (subject.pid === null) throw new Error(`${subject.name} has no process to be measured`)
  const conversation = openConversation({ seed: 20_000 + run, stamp: `agent${run}` })
  const connection = await openConnection(subject.origin)
  const before = cpuMicroseconds(subject.pid)
  for (let round = 0; round < ROUNDS; round += 1) {
    conversation.addRound()
    const { status, first } = await connection.ask(conversation.request())
    if (status !== 200) throw new Error(`it answered ${status}: ${first.toString('utf8')}`)
  }
  connection.close()
  return (cpuMicroseconds(subject.pid) - before) / 1_000 / ROUNDS
}
