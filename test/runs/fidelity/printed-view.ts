import { callsOf, mediaCount, textOf, textsOf } from '../../support/strict-upstream/wire-message.ts'
import type { RawMessage, Recording } from '../replay/recordings.ts'
import type { Room } from './policy-sender.ts'
import type { SeenView } from './walk-conversation.ts'

type Title = { readonly recording: Recording; readonly row: string; readonly room: Room }

/** A view as a person reads it: each message with its role, its size, whose it is, and its texts whole. */
export function printedView(view: SeenView, { recording, row, room }: Title): string {
  const budgetTokens = room.windowTokens - room.reserveTokens
  const title = `${row}: ${recording.file}, conversation ${recording.id}, request of ${view.point} messages: ${
    view.received.length
  } received, ${whole(view.promptTokens)} tokens of ${whole(budgetTokens)}`
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

// --- internal ---

function headline(view: SeenView, message: RawMessage, position: number, origin: string | null): string {
  const answered = textOf(message.message['tool_call_id'])
  const media = mediaCount(message.message['content'])
  return [
    `[${position}] ${textOf(message.message['role'])}`,
    `${whole(view.sizeOf(message))} tokens`,
    origin ?? "not one of the client's",
    ...(answered === '' ? [] : [`answers ${answered}`]),
    ...(media === 0 ? [] : [`${media} media`]),
  ].join(', ')
}

function originText({ standings, sizeOf }: SeenView, { messages }: Recording, index: number): string {
  const original = messages[index]
  if (original === undefined || standings.get(index)?.isByteIdentical === true) return `message ${index}`
  return `message ${index}, changed, of ${whole(sizeOf(original))}`
}

function whole(number: number): string {
  return number.toLocaleString('en-US')
}
