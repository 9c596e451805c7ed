import { bytesOfTokens, openConversation } from '../conversations/growing-conversation.ts'
import { checkOf } from './check-of.ts'
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
    const bytes = await bytesOfTokens(TOKENS)
    const conversations = [400, 401].map((seed) => openConversation({ seed }))
    for (const { growTo } of conversations) growTo(bytes)
    const requests = conversations.map((conversation) => conversation.request())
    const rounds: { readonly buffered: readonly Beside[]; readonly foldgate: readonly Beside[] }[] = []
    for (let round = 0; round < effort.rounds; round += 1) {
      tell(`a conversation of 1,000,000 tokens, seen for the first time, ${round + 1} of ${effort.rounds}`)
      rounds.push({
        buffered: await seenBy(await startMinimalRelay(upstreamOrigin, true), requests),
        foldgate: await seenBy(await startCompactingFoldgate(upstreamOrigin), requests),
      })
    }
    const firsts = rounds.flatMap(({ foldgate }) => foldgate.slice(0, 1))
    const longestMs = firsts.map(longestOf)
    return {
      name: 'first-sight',
      title: 'The first sight of a long conversation',
      about: `A process that has just started gets a conversation of about 1,000,000 tokens (${shown(bytes / 1_000_000)} MB, about ${conversations[0]?.messages()} messages) for the first time; Foldgate counts it and compacts it to a window of 128,000 tokens. A second one follows, so that what is loaded at first need, such as the tokenizer's table, can be told apart. Meanwhile another connection asks a chat request of 2 kB again and again. What that takes longer than while idle is the added delay.`,
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
              rounds.flatMap(({ buffered }) => buffered.slice(0, 1)),
            ),
            rowOf('Foldgate', firsts),
            rowOf(
              'Foldgate, the second one',
              rounds.flatMap(({ foldgate }) => foldgate.slice(1)),
            ),
          ],
        },
      ],
      checks: [
        checkOf(
          'first-sight-delay',
          'The longest that a small request waits beside the first sight of 1,000,000 tokens, in milliseconds',
          { kind: 'at most', value: 50 },
          longestMs,
        ),
      ],
    }
  },
}

// --- internal ---

/** One conversation after the other, in the same process. */
async function seenBy(subject: Subject, requests: readonly Buffer[]): Promise<readonly Beside[]> {
  try {
    const seen: Beside[] = []
    for (const request of requests) seen.push(await askBeside(subject.origin, [request]))
    return seen
  } finally {
    await subject.stop()
  }
}

function longestOf({ addedMs }: Beside): number {
  return Math.max(...addedMs)
}

function rowOf(name: string, rounds: readonly Beside[]): string[] {
  const longestMs = rounds.map(longestOf)
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
