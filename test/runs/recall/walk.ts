import { loadCounter } from '../../../src/tokens/encodings.ts'
import { openReader, openSight, textsIn, thingsOf, wantedOf } from '../fidelity/wanted.ts'
import { systemCountOf, textsBefore, type Recording } from '../harness/recordings.ts'
import { bodyOf, rulesFor } from '../harness/subject.ts'
import { addTo } from '../harness/table.ts'
import { openRecallStage, type Errand, type ErrandReport, type RecallStage } from './errand.ts'

const nothing = {
  requests: 0,
  things: 0,
  // Those that stand in the view.
  inView: 0,
  // The others, and of these: found on the first page of one search, by three calls, by any number, or by reading the message.
  missing: 0,
  byOneCall: 0,
  byThree: 0,
  inTheEnd: 0,
  // Those that were found by reading the newest message that names them.
  byName: 0,
}

/** What became of the specific things that next messages name and their histories hold. */
export type Tally = typeof nothing

export function sumOf(tallies: readonly Tally[]): Tally {
  const sum = { ...nothing }
  for (const tally of tallies) addTo(sum, tally)
  return sum
}

/** Whether everything can be reached. */
export const isSound = ({ things, inView, missing, inTheEnd, byName }: Tally): boolean =>
  inView + inTheEnd === things && byName === missing

type WalkOptions = { readonly windowTokens: number; readonly reserveTokens: number }

/**
 * Makes every request of a conversation, and once more for each thing that the true next message names and the view has
 * lost: the model searches for it, and reads the newest message that names it.
 */
export async function walkForThings(recording: Recording, options: WalkOptions): Promise<Tally> {
  const { count } = await loadCounter('o200k_base')
  const stage = await openRecallStage({
    windowTokens: options.windowTokens,
    rules: rulesFor(recording.messages),
    count,
  })
  const tally = { ...nothing }
  const read = openReader()
  const [history, view] = [openSight(), openSight()]
  try {
    for (const point of recording.points) {
      const next = recording.messages[point]
      if (next === undefined) continue
      const before = recording.messages.slice(0, point)
      history.show(before.map(read))
      const { things } = wantedOf(read(next), history, history)
      const body = bodyOf(recording, textsBefore(recording, point), {
        ...(recording.tools === '' && { tools: A_TOOL }),
        outputTokens: options.reserveTokens,
      })
      const received = await stage.send(body)
      tally.requests += 1
      tally.things += things.length
      if (received === null) continue
      view.show(
        received.messages.map((message, index) => read({ text: received.rawMessages[index] ?? '', message })),
      )
      for (const thing of things) {
        if (view.names(thing)) {
          tally.inView += 1
          continue
        }
        const isIn = (text: string) => namesIn(text).has(thing)
        tally.missing += 1
        const search = await stage.sendOn({ first: JSON.stringify({ search: thing }), isIn }, body)
        const named = before.findLastIndex((message) => read(message).things.has(thing))
        const messages = `#${named - systemCountOf(before) + 1}`
        note(tally, search, await readOn(stage, { first: JSON.stringify({ messages }), isIn }, body))
      }
    }
  } finally {
    await stage.close()
  }
  return tally
}

/** The tool is offered beside others only. */
const A_TOOL = JSON.stringify([
  { type: 'function', function: { name: 'bash', parameters: { type: 'object', properties: {} } } },
])

/** The default of `recall.rounds`. */
const ROUNDS = 3

/** Reads to the end, in as many replies as that takes. */
async function readOn(stage: RecallStage, errand: Errand, body: Buffer): Promise<ErrandReport> {
  let report = await stage.sendOn(errand, body)
  while (!report.isFound && report.rest !== null) {
    const next = await stage.sendOn({ ...errand, first: report.rest }, body)
    if (next.calls === 0) return next
    report = next
  }
  return report
}

function note(tally: Tally, search: ErrandReport, reading: ErrandReport): void {
  if (search.isFound && search.calls === 1) tally.byOneCall += 1
  if (search.isFound && search.calls <= ROUNDS) tally.byThree += 1
  if (search.isFound || reading.isFound) tally.inTheEnd += 1
  if (reading.isFound) tally.byName += 1
}

/** What a model reads in a tool result. */
const namesIn = (text: string): ReadonlySet<string> =>
  new Set(textsIn({ role: 'tool', content: text }).flatMap((each) => [...thingsOf(each)]))
