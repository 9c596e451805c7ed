import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rawMessage, type RawMessage, type Recording } from '../harness/recordings.ts'
import { headAndSuffix, newestSuffix, pinned, type Policy, type PolicyInput } from '../fidelity/policies.ts'
import { policies, withWindow } from '../fidelity/rows.ts'
import { openFoldgateSender, type Room } from '../fidelity/senders.ts'
import { held, openReader, openSight, wantedOf } from '../fidelity/wanted.ts'
import { newestRoundOf } from './written.ts'

/** A row of the table: a Foldgate, of this checkout or of another one, or a policy of the client's own. */
export type ViewRow =
  | {
      readonly kind: 'foldgate'
      readonly name: string
      readonly profile: object
      /** The folder of another checkout; null for this one. */
      readonly checkout: string | null
    }
  | { readonly kind: 'policy'; readonly name: string }

/** The rows that others are measured by: all that could be known, and what cannot be left out. */
export const EVERYTHING = 'everything'
export const NOTHING = 'nothing'

export const policyRows: readonly ViewRow[] = [
  'quick 0.7',
  'quick 0.8',
  'masking',
  'head, newest suffix',
  'drop half',
  'stranger',
  NOTHING,
  EVERYTHING,
].map((name) => ({ kind: 'policy', name }))

type ViewOptions = {
  readonly row: ViewRow
  readonly recording: Recording
  /** Those of its requests whose views are wanted, ascending. */
  readonly points: readonly number[]
  /** Another conversation. */
  readonly stranger: readonly RawMessage[]
  readonly inputAt: (point: number) => PolicyInput
  readonly room: Room
  readonly count: (text: string) => number
}

/** What a model would get at these requests, by their points. Every request before them is made, too. */
export async function viewsOf(options: ViewOptions): Promise<ReadonlyMap<number, readonly RawMessage[]>> {
  const { recording, points, inputAt } = options
  const all = recording.points.filter((point) => point <= (points.at(-1) ?? 0))
  const views = new Map<number, readonly RawMessage[]>()
  if (options.row.kind === 'policy') {
    const policy = profileOf(options.row.name, options.stranger)
    for (const point of all) views.set(point, policy(inputAt(point)))
  } else {
    const { profile, checkout } = options.row
    const open = checkout === null ? openFoldgateSender : await senderOf(checkout)
    const windowed = withWindow(profile, options.room.windowTokens)
    const sender = await open({ recording, profile: windowed, room: options.room, count: options.count })
    try {
      for (const point of all) {
        const { received } = await sender.send(point)
        if (received !== null) views.set(point, received.rawMessages.map(rawMessage))
      }
    } finally {
      await sender.close()
    }
  }
  return new Map(points.map((point) => [point, views.get(point) ?? missing(recording, point)]))
}

export type Presence = ReturnType<ReturnType<typeof openPresence>>

/** Asks of a view what `npm run fidelity` asks, and how much of the agent's own words and calls stands byte for byte. */
export function openPresence({ messages }: Recording) {
  const read = openReader()
  const [history, suffix, sight] = [openSight(), openSight(), openSight()]
  return function presenceOf(input: PolicyInput, view: readonly RawMessage[]) {
    const next = messages[input.messages.length]
    history.show(input.messages.map(read))
    suffix.show(newestSuffix(input).map(read))
    sight.show(view.map(read))
    const standing = new Set(view.map(({ text }) => text))
    const own = input.messages.filter(({ message }) => message['role'] === 'assistant')
    const sum = (some: readonly RawMessage[]) => some.reduce((all, each) => all + input.sizeOf(each), 0)
    return {
      tally: next === undefined ? {} : held(wantedOf(read(next), history, suffix), sight),
      viewTokens: sum(view),
      ownTokens: sum(own),
      ownTokensHeld: sum(own.filter(({ text }) => standing.has(text))),
    }
  }
}

function profileOf(name: string, stranger: readonly RawMessage[]): Policy {
  if (name === NOTHING) return nothing
  if (name === 'stranger') return openStranger(stranger)
  const open = policies.get(name)
  if (open === undefined) throw new Error(`there is no policy ${name}`)
  return open()
}

/** What no row may leave out: system messages, task, newest round. */
const nothing: Policy = ({ messages }) => [...pinned(messages).head, ...newestRoundOf(messages)]

/** Between these, as much of another conversation as there is room for: what is gained by it says nothing of memory. */
const openStranger =
  (stranger: readonly RawMessage[]): Policy =>
  (input) => {
    const { messages } = input
    const middle = pinned(stranger).rest
    return headAndSuffix({
      ...input,
      messages: [...pinned(messages).head, ...middle, ...newestRoundOf(messages)],
    })
  }

async function senderOf(checkout: string): Promise<typeof openFoldgateSender> {
  const file = pathToFileURL(join(resolve(checkout), 'test/runs/fidelity/senders.ts'))
  const senders: { readonly openFoldgateSender: typeof openFoldgateSender } = await import(file.href)
  return senders.openFoldgateSender
}

function missing(recording: Recording, point: number): never {
  throw new Error(`nothing reached the upstream of ${recording.file} ${recording.id} at ${point}`)
}
