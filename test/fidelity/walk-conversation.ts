import type { Recording } from '../replay/recordings.ts'
import { isBeginning } from '../support/is-beginning.ts'
import { newestSuffix, type PolicyInput } from './policies.ts'
import type { Room } from './policy-sender.ts'
import { openReader } from './reading.ts'
import type { Sender } from './sender.ts'
import { openSight } from './sight.ts'
import { sumOf, type Tally } from './tally.ts'
import { held, wantedOf } from './wanted.ts'

type WalkOptions = {
  readonly recording: Recording
  readonly sender: Sender
  readonly room: Room
  readonly inputAt: (point: number) => PolicyInput
}

/** Makes every request of a conversation, one after the other, and measures what of it arrives. */
export async function walkConversation({ recording, sender, room, inputAt }: WalkOptions): Promise<Tally> {
  const read = openReader()
  const [history, suffix, view] = [openSight(), openSight(), openSight()]
  const tallies: Partial<Tally>[] = []
  let before: readonly string[] = []
  for (const point of recording.points) {
    const next = recording.messages[point]
    if (next === undefined) continue
    const input = inputAt(point)
    history.show(input.messages.map(read))
    suffix.show(newestSuffix(input).map(read))

    const { received, faults, summaries } = await sender.send(point)
    const { messages = [], rawMessages = [], promptTokens = 0, cachedTokens = 0 } = received ?? {}
    view.show(messages.map((message, index) => read({ text: rawMessages[index] ?? '', message })))
    tallies.push({
      ...held(wantedOf(read(next), history, suffix), view),
      ...faults,
      ...summaries,
      requests: 1,
      promptTokens,
      cachedTokens,
      strides: isBeginning(before, rawMessages) ? 0 : 1,
      beyond: promptTokens + room.reserveTokens > room.windowTokens ? 1 : 0,
    })
    before = rawMessages
  }
  return sumOf(tallies)
}
