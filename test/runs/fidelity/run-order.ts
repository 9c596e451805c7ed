import { loadCounter } from '../../../src/tokens/encodings.ts'
import type { RunDialect } from '../harness/lived.ts'
import { readRecordings, type Recording } from '../harness/recordings.ts'
import type { Tally } from './figures.ts'
import { openLivedSender } from './lived-sender.ts'
import type { PolicyInput } from './policies.ts'
import { policies, withWindow, type Row } from './rows.ts'
import { openFoldgateSender, openPolicyInput, openPolicySender, type Room, type Sender } from './senders.ts'
import { openViewSample, type PrintedView, type ViewsWanted } from './views.ts'
import { walkConversation } from './walk-conversation.ts'

/** One conversation in one row. */
export type Order = {
  readonly folder: string
  readonly file: string
  /** Which conversation of the file. */
  readonly place: number
  readonly row: Row
  readonly room: Room
  /** Of Foldgate's rows. */
  readonly dialect: RunDialect
  /** How much the model thinks before each reply, where the API has its thoughts sent back. */
  readonly reasoningTokens: number
  /** How many times our count of a text the upstream's is. */
  readonly upstreamRatio: number
  /** Of Foldgate's rows; null for none. */
  readonly views: ViewsWanted | null
}

export type OrderReport = {
  readonly order: Order
  readonly tally: Tally
  readonly views: readonly PrintedView[]
}

/** Does an order from the reading of its file to the sums. */
export async function runOrder(order: Order): Promise<OrderReport> {
  const { folder, file, place, row, room, upstreamRatio } = order
  const recording = recordingsOf(folder, file)[place]
  if (recording === undefined) throw new Error(`${file} has no conversation ${place}`)
  const { count: countOurs } = await loadCounter('o200k_base')
  const count = (text: string) => Math.round(upstreamRatio * countOurs(text))
  const inputAt = openPolicyInput(recording, room, count)
  const sample =
    order.views === null || row.kind === 'policy'
      ? null
      : openViewSample(order.views, { recording, row, room })
  const sender = await openSender(order, recording, inputAt, count)
  try {
    const tally = await walkConversation({
      recording,
      sender,
      room,
      inputAt,
      count,
      isFirstLeftOut: upstreamRatio !== 1,
      ...(sample !== null && { onView: sample.add }),
    })
    return { order, tally, views: sample?.views() ?? [] }
  } finally {
    await sender.close()
  }
}

// --- internal ---

async function openSender(
  { row, room, dialect, reasoningTokens }: Order,
  recording: Recording,
  inputAt: (point: number) => PolicyInput,
  count: (text: string) => number,
): Promise<Sender> {
  if (row.kind === 'policy') {
    const policy = policies.get(row.name)
    if (policy === undefined) throw new Error(`there is no policy ${row.name}`)
    return openPolicySender(policy, recording, inputAt, count)
  }
  const asked = { recording, profile: withWindow(row.profile, room.windowTokens), room, count }
  if (dialect === 'chat-completions') return openFoldgateSender(asked)
  return openLivedSender({ ...asked, dialect, reasoningTokens })
}

const read = new Map<string, readonly Recording[]>()

/** A process does many orders of one file. */
function recordingsOf(folder: string, file: string): readonly Recording[] {
  const recordings = read.get(file) ?? readRecordings(folder, file)
  read.set(file, recordings)
  return recordings
}
