import { bytesOfTokens, openConversation } from '../conversations/growing-conversation.ts'
import { median, percentile, spreadOf } from '../figures.ts'
import { askBeside, type Beside } from '../load/beside.ts'
import type { Measure } from '../section.ts'
import { shown, shownSpread } from '../shown.ts'
import { startMinimalRelay } from '../subjects/minimal-relay.ts'
import type { Subject } from '../subjects/subject.ts'
import { startCompactingFoldgate } from './warm/compacting.ts'

const TOKENS = 1_000_000

/** What others wait for while a conversation of about 1,000,000 tokens is seen for the first time. */
export const firstSight: Measure = {
  name: 'first-sight',
  run: async ({ effort, upstreamOrigin, tell }) => {
    const conversation = openConversation({ seed: 400 })
    conversation.growTo(await bytesOfTokens(TOKENS))
    const request = conversation.request()
    const rounds: { readonly foldgate: Beside; readonly buffered: Beside }[] = []
    for (let round = 0; round < effort.rounds; round += 1) {
      tell(`a conversation of 1,000,000 tokens, seen for the first time, ${round + 1} of ${effort.rounds}`)
      rounds.push({
        buffered: await seenBy(await startMinimalRelay(upstreamOrigin, true), request),
        foldgate: await seenBy(await startCompactingFoldgate(upstreamOrigin), request),
      })
    }
    const longestMs = rounds.map(({ foldgate }) => Math.max(...foldgate.addedMs))
    return {
      name: 'first-sight',
      title: 'The first sight of a long conversation',
      about: `A process that has just started gets a conversation of about 1,000,000 tokens (${shown(conversation.bodyBytes() / 1_000_000)} MB, ${conversation.messages()} messages) for the first time; Foldgate counts it and compacts it to a window of 128,000 tokens. Meanwhile another connection asks a chat request of 2 kB again and again. What that takes longer than while idle is the added delay.`,
      tables: [
        {
          caption: 'A small request beside it',
          columns: [
            'subject',
            'idle, median ms',
            'longest added ms',
            'in the rounds',
            '99th percentile added, ms',
            'small requests a round',
            'the long one, ms',
          ],
          rows: [
            rowOf(
              'buffered relay',
              rounds.map(({ buffered }) => buffered),
            ),
            rowOf(
              'Foldgate, sqlite:',
              rounds.map(({ foldgate }) => foldgate),
            ),
          ],
        },
      ],
      checks: [
        {
          id: 'first-sight-delay',
          what: 'The longest that a small request waits beside the first sight of 1,000,000 tokens, in milliseconds',
          bound: { kind: 'at most', value: 50 },
          value: median(longestMs),
          spread: spreadOf(longestMs),
        },
      ],
    }
  },
}

// --- internal ---

async function seenBy(subject: Subject, request: Buffer): Promise<Beside> {
  try {
    return await askBeside(subject.origin, [request])
  } finally {
    await subject.stop()
  }
}

function rowOf(name: string, rounds: readonly Beside[]): string[] {
  const longestMs = rounds.map(({ addedMs }) => Math.max(...addedMs))
  return [
    name,
    shown(median(rounds.map(({ idleMs }) => idleMs))),
    shown(median(longestMs)),
    shownSpread(spreadOf(longestMs)),
    shown(median(rounds.map(({ addedMs }) => percentile(addedMs, 0.99)))),
    shown(median(rounds.map(({ addedMs }) => addedMs.length))),
    shown(median(rounds.map(({ answers }) => answers[0]?.totalMs ?? Number.NaN))),
  ]
}
