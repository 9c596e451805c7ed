import { loadCounter } from '../../src/pressure/encodings.ts'
import { readRecordings, type Recording } from '../replay/recordings.ts'
import { openFoldgateSender } from './foldgate-sender.ts'
import { openPolicyInput, openPolicySender, type Room } from './policy-sender.ts'
import { policies, type Row } from './rows.ts'
import type { Tally } from './tally.ts'
import { walkConversation } from './walk-conversation.ts'

/** One conversation in one row. */
export type Order = {
  readonly folder: string
  readonly file: string
  /** Which conversation of the file. */
  readonly place: number
  readonly row: Row
  readonly room: Room
}

export type OrderReport = { readonly order: Order; readonly tally: Tally }

/** Does an order from the reading of its file to the sums. */
export async function runOrder(order: Order): Promise<OrderReport> {
  const { folder, file, place, row, room } = order
  const recording = recordingsOf(folder, file)[place]
  if (recording === undefined) throw new Error(`${file} has no conversation ${place}`)
  const { count } = await loadCounter('o200k_base')
  const inputAt = openPolicyInput(recording, room, count)
  const sender =
    row.kind === 'policy'
      ? openPolicySender(policies[row.name], recording, inputAt, count)
      : await openFoldgateSender({ recording, profile: row.profile, room, count })
  try {
    return { order, tally: await walkConversation({ recording, sender, room, inputAt }) }
  } finally {
    await sender.close()
  }
}

// --- internal ---

const read = new Map<string, readonly Recording[]>()

/** A process does many orders of one file. */
function recordingsOf(folder: string, file: string): readonly Recording[] {
  const recordings = read.get(file) ?? readRecordings(folder, file)
  read.set(file, recordings)
  return recordings
}
