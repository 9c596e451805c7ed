import { hash } from 'node:crypto'
import { callsOf, mediaIn, textOf, textsOf } from '../../support/strict-upstream/wire-message.ts'
import type { RawMessage, Recording } from '../harness/recordings.ts'
import { grouped } from '../harness/table.ts'
import type { Row } from './rows.ts'
import type { Room } from './senders.ts'
import type { SeenView } from './walk-conversation.ts'

export type ViewsWanted = {
  readonly count: number
  /** The same seed chooses the same requests, by however many processes they are made. */
  readonly seed: number
}

/** A view as a person reads it. */
export type PrintedView = {
  /** Those with the lowest are chosen. */
  readonly lot: string
  readonly text: string
}

type Source = { readonly recording: Recording; readonly row: Row; readonly room: Room }

/** Keeps so many of the views that it is shown, each as likely as any other. */
export function openViewSample({ count: wanted, seed }: ViewsWanted, { recording, row, room }: Source) {
  let kept: readonly { readonly lot: string; readonly view: SeenView }[] = []
  return {
    add: (view: SeenView): void => {
      const lot = hash('sha1', `${seed} ${row.name} ${recording.file} ${recording.id} ${view.point}`)
      kept = lowest([...kept, { lot, view }], wanted)
    },
    views: (): readonly PrintedView[] =>
      kept.map(({ lot, view }) => ({ lot, text: printedView(view, { recording, row: row.name, room }) })),
  }
}

/** So many of them with the lowest lots. */
export const lowest = <Drawn extends { readonly lot: string }>(
  drawn: readonly Drawn[],
  wanted: number,
): readonly Drawn[] => drawn.toSorted((one, other) => (one.lot < other.lot ? -1 : 1)).slice(0, wanted)

type Title = { readonly recording: Recording; readonly row: string; readonly room: Room }

/** A view as a person reads it: each message with its role, its size, whose it is, and its texts whole. */
function printedView(view: SeenView, { recording, row, room }: Title): string {
  const budgetTokens = room.windowTokens - room.reserveTokens
  const title = `${row}: ${recording.file}, conversation ${recording.id}, request of ${view.point} messages: ${
    view.received.length
  } received, ${grouped(view.promptTokens)} tokens of ${grouped(budgetTokens)}`
  const origins = new Map([...view.standings].map(([index, { position }]) => [position, index]))
  const messages = view.received.map((message, position) => {
    const origin = origins.get(position)
    const lines = [
      headline(view, message, position, origin === undefined ? null : originText(view, recording, origin)),
      ...callsOf(message.message).map(({ name, argumentsText }) => `calls ${name} ${argumentsText}`),
      ...textsOf(message.message['content']),
    ]
    return lines.join('\n').replaceAll('\n', '\n    ')
  })
  return [title, ...messages].join('\n')
}

function headline(view: SeenView, message: RawMessage, position: number, origin: string | null): string {
  const answered = textOf(message.message['tool_call_id'])
  const media = mediaIn(message.message)
  return [
    `[${position}] ${textOf(message.message['role'])}`,
    `${grouped(view.sizeOf(message))} tokens`,
    origin ?? "not one of the client's",
    ...(answered === '' ? [] : [`answers ${answered}`]),
    ...(media === 0 ? [] : [`${media} media`]),
  ].join(', ')
}

function originText({ standings, sizeOf }: SeenView, { messages }: Recording, index: number): string {
  const original = messages[index]
  if (original === undefined || standings.get(index)?.isByteIdentical === true) return `message ${index}`
  return `message ${index}, changed, of ${grouped(sizeOf(original))}`
}
