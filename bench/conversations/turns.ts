import { median } from '../figures.ts'
import { openConnection, type Connection } from '../load/load.ts'
import { cpuOf } from '../subjects/process-figures.ts'
import type { Subject } from '../subjects/subject.ts'
import { untilQuiet } from '../subjects/until-quiet.ts'
import type { GrowingConversation } from './growing-conversation.ts'

/** What the turns of a conversation took with one subject, within one round. */
export type Turns = {
  /** Of each turn, until its answer was whole. */
  readonly latenciesMs: readonly number[]
  readonly medianMs: number
  /** Of the subject's process, on the average; null where nothing stands between. */
  readonly cpuMsPerTurn: number | null
}

export type TurnsOptions = {
  readonly subjects: readonly Subject[]
  readonly conversation: GrowingConversation
  /** Makes the conversation longer before each turn. */
  readonly grow: () => void
  readonly turnsMin: number
  readonly durationMs: number
}

/**
 * Sends a conversation turn by turn, each turn to every subject, one at a time, in an order that changes. Returns what
 * each took, in the order of `subjects`.
 */
export async function takeTurns(options: TurnsOptions): Promise<readonly Turns[]> {
  const { subjects, conversation, grow, turnsMin, durationMs } = options
  const places = await Promise.all(
    subjects.map(async (subject) => ({
      subject,
      connection: await openConnection(subject.origin),
      latenciesMs: [] as number[],
    })),
  )
  // A new connection has small buffers, which grow with what goes through.
  for (let turn = 0; turn < CONNECTION_TURNS; turn += 1) {
    grow()
    for (const { subject, connection } of places) await takeTurn(subject, connection, conversation.request())
  }
  const cpuBefore = subjects.map(cpuOf)
  const startedMs = performance.now()
  let turns = 0
  while (turns < turnsMin || performance.now() - startedMs < durationMs) {
    grow()
    const request = conversation.request()
    for (let step = 0; step < places.length; step += 1) {
      const place = places[(turns + step) % places.length]
      place?.latenciesMs.push(await takeTurn(place.subject, place.connection, request))
    }
    turns += 1
  }
  for (const { connection } of places) connection.close()
  return places.map(({ subject, latenciesMs }, index) => {
    const before = cpuBefore[index] ?? null
    const after = cpuOf(subject)
    return {
      latenciesMs,
      medianMs: median(latenciesMs),
      cpuMsPerTurn: before === null || after === null ? null : (after - before) / 1000 / turns,
    }
  })
}

/** Sends a conversation as it stands and a few turns more, so that the next one is a warm turn, and the code is warm. */
export async function makeKnown(
  subject: Subject,
  conversation: GrowingConversation,
  warmTurns: number,
): Promise<void> {
  const connection = await openConnection(subject.origin)
  await takeTurn(subject, connection, conversation.request())
  for (let turn = 0; turn < warmTurns; turn += 1) {
    conversation.addRound()
    await takeTurn(subject, connection, conversation.request())
  }
  connection.close()
}

// --- internal ---

const CONNECTION_TURNS = 2

async function takeTurn(subject: Subject, connection: Connection, request: Buffer): Promise<number> {
  const { status, totalMs, head, first } = await connection.ask(request)
  if (status !== 200) throw new Error(`${subject.name} answered ${status}: ${first.toString('utf8')}`)
  const action = /\r\nx-foldgate-action: ([^\r]+)/i.exec(head)?.[1]
  if (action !== undefined && action !== 'compacted')
    throw new Error(`${subject.name} has ${action} what it was to compact`)
  // What a subject does after its answer, such as collecting garbage, must not fall into the next one's time: they share a
  // core.
  if (subject.pid !== null) await untilQuiet(subject.pid)
  return totalMs
}
