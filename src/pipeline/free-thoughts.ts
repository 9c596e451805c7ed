import { anyHasBoundThoughts } from '../compaction/history/subject.ts'
import type { Message } from '../conversation/message.ts'
import type { Chat, Counted } from './request.ts'

/** A conversation that was counted. */
type Of<Request> = { readonly request: Request; readonly counted: Counted }

/** The same conversation, in which no thoughts are bound to what stood before them: they stay with their replies. */
export function withFreeThoughts(chat: Chat): Chat {
  if (!anyHasBoundThoughts(chat.messages)) return chat
  const messages = chat.messages.map((message): Message => {
    const { bound, ...facts } = message.facts
    return bound === 'whole' ? { ...message, facts } : message
  })
  return { ...chat, messages, signedMessages: chat.messages }
}

/** A request of which a refusal has said that its signed thoughts are not bound, or that they are after all. */
export function rebound<Request extends { readonly chat: Chat }>(
  { request, counted }: Of<Request>,
  isBound: boolean,
): Of<Request> {
  const { chat } = request
  const { signedMessages, ...plain } = chat
  const other = isBound ? { ...plain, messages: signedMessages ?? chat.messages } : withFreeThoughts(chat)
  const subject = { ...counted.subject, messages: other.messages }
  return { request: { ...request, chat: other }, counted: { ...counted, subject } }
}
