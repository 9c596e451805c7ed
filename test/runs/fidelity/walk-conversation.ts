import { isBeginning } from '../../support/is-beginning.ts'
import { rawMessage, systemCountOf, type RawMessage, type Recording } from '../harness/recordings.ts'
import { rhythmOf, sumOf, type Beat, type Tally } from './figures.ts'
import { newestSuffix, type PolicyInput } from './policies.ts'
import type { Room, Sender } from './senders.ts'
import { quotesHeld, staleLines } from './states.ts'
import { openStandings, type Standing } from './standing.ts'
import { held, openReader, openSight, wantedOf } from './wanted.ts'
import { newestFigure, recentShare, workableFigures, type WorkableInput } from './workable.ts'

type WalkOptions = {
  readonly recording: Recording
  readonly sender: Sender
  readonly room: Room
  readonly inputAt: (point: number) => PolicyInput
  /** The upstream's. */
  readonly count: (text: string) => number
  /** The first request is made, and only what went wrong with it is told. Default: it counts as the others do. */
  readonly isFirstLeftOut?: boolean
  /** Is shown every request whose view is not what the client sent. */
  readonly onView?: (view: SeenView) => void
}

/** One request, as a model would get it. */
export type SeenView = {
  readonly point: number
  readonly received: readonly RawMessage[]
  /** Where the client's messages stand in it, by their indexes. */
  readonly standings: ReadonlyMap<number, Standing>
  readonly promptTokens: number
  readonly sizeOf: (message: RawMessage) => number
}

/** Makes every request of a conversation, one after the other, and measures what of it arrives. */
export async function walkConversation(options: WalkOptions): Promise<Tally> {
  const { recording, sender, room, inputAt, count } = options
  const budgetTokens = room.windowTokens - room.reserveTokens
  const read = openReader()
  const [history, suffix, view] = [openSight(), openSight(), openSight()]
  const { sizeOf } = inputAt(0)
  const standings = openStandings({ count, sizeOf })
  const parse = openParser(recording.messages)
  const tallies: Partial<Tally>[] = []
  const beats: Beat[] = []
  let before: Before = { newest: '', entries: [] }
  for (const [order, point] of recording.points.entries()) {
    const input = inputAt(point)
    const sent = await sender.send(point)
    const { rawMessages = [], promptTokens = 0, cachedTokens = 0 } = sent.received ?? {}
    const entries = sent.received?.rawItems ?? rawMessages
    const received = rawMessages.map(parse)
    const newest = input.messages.at(-1)?.text ?? ''
    const isCompacted = !isBeginning(before.entries, entries)
    const samePrompt = isSamePrompt(before, { newest, entries }) ? 1 : 0
    before = { newest, entries }
    if (order === 0 && options.isFirstLeftOut === true) {
      tallies.push(sent.faults)
      continue
    }
    const roomTokens = roomOf(input)
    const workable = { client: input.messages, received, standings, sizeOf, roomTokens }
    if (isTooLarge(workable)) {
      const newestThere = sent.received === null ? {} : newestFigure(workable)
      const { failedOpen = 0, broken = 0 } = sent.faults
      tallies.push({ ...newestThere, samePrompt, tooLarge: 1, failedOpen, broken })
      continue
    }
    beats.push({ isCompacted, promptTokens })
    tallies.push({
      ...nextHeld(point, input, received),
      stale: staleLines(input.messages, received),
      ...(sent.received !== null && workableFigures(workable)),
      ...(areEqual(received, input.messages) ? {} : ownFigures(workable)),
      ...sent.faults,
      ...sent.summaries,
      requests: 1,
      samePrompt,
      promptTokens,
      cachedTokens,
      compactions: isCompacted ? 1 : 0,
      recents: isCompacted ? [recentShare(workable)] : [],
      beyond: promptTokens > budgetTokens ? 1 : 0,
    })
    if (options.onView !== undefined && !areEqual(received, input.messages))
      options.onView({
        point,
        received,
        standings: standings.of(input.messages, received),
        promptTokens,
        sizeOf,
      })
  }
  return sumOf([...tallies, rhythmOf(beats, budgetTokens)])

  /** How much of what the true next message takes up again is there; nothing is asked of a recording's end. */
  function nextHeld(point: number, input: PolicyInput, received: readonly RawMessage[]): Partial<Tally> {
    const next = recording.messages[point]
    if (next === undefined) return {}
    history.show(input.messages.map(read))
    suffix.show(newestSuffix(input).map(read))
    view.show(received.map(read))
    return {
      ...held(wantedOf(read(next), history, suffix), view),
      ...quotesHeld(next.message, input.messages, received),
    }
  }
}

/** The request before: the client's newest message, and what the upstream received for it, by messages or items. */
type Before = { readonly newest: string; readonly entries: readonly string[] }

const isSamePrompt = (before: Before, now: Before): boolean =>
  before.newest !== now.newest &&
  before.entries.length > 0 &&
  before.entries.length === now.entries.length &&
  isBeginning(before.entries, now.entries)

/** Whether what is sent whole exceeds the budget by itself: tools, system messages, and a newest message of the user. */
function isTooLarge({ client, roomTokens, sizeOf }: WorkableInput): boolean {
  const newest = client.at(-1)
  return roomTokens <= 0 || (newest?.message['role'] === 'user' && sizeOf(newest) > roomTokens)
}

/** How much of what the assistant wrote, words and calls, stands byte for byte. */
function ownFigures({ client, received, sizeOf }: WorkableInput): Partial<Tally> {
  const there = new Set(received.map(({ text }) => text))
  const own = client.filter(({ message }) => message['role'] === 'assistant')
  const tokensOf = (messages: readonly RawMessage[]): number =>
    messages.reduce((sum, message) => sum + sizeOf(message), 0)
  return { ownTokens: tokensOf(own), ownTokensHeld: tokensOf(own.filter(({ text }) => there.has(text))) }
}

/** The same object for the same text. */
function openParser(messages: readonly RawMessage[]): (text: string) => RawMessage {
  const known = new Map(messages.map((message) => [message.text, message]))
  return function parse(text) {
    const message = known.get(text) ?? rawMessage(text)
    known.set(text, message)
    return message
  }
}

const areEqual = (received: readonly RawMessage[], client: readonly RawMessage[]): boolean =>
  received.length === client.length && received.every(({ text }, index) => text === client[index]?.text)

/** What the budget leaves beside tools and leading system messages. */
function roomOf({ messages, budgetTokens, sizeOf }: PolicyInput): number {
  const system = messages.slice(0, systemCountOf(messages))
  return budgetTokens - system.reduce((sum, message) => sum + sizeOf(message), 0)
}
