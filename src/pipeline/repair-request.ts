import type { Chat, ReadRequest } from './request.ts'
import { runAtOnce } from '../json/source.ts'
import { spliceMessages } from '../json/splice.ts'
import { InvariantError } from '../errors.ts'
import { runInSlices } from '../scheduling/drive.ts'
import type { RequestParts } from './request-parts.ts'
import { whyUntouched } from './model-lessons.ts'
import { readBytes, type ReadChatOptions, withFreeThoughts } from './read/read-chat.ts'
import { bytesOf } from './send/outgoing-body.ts'

/**
 * A request whose broken conversation is repaired, where the profile asks for it: from here on it is as if the client
 * had sent it so. Measured, recorded and compacted is what the upstream gets, and what obeys the rules of tool calls
 * needs no second treatment further on. The client's own bytes stay at hand (`received`), in case of a refusal.
 */
export async function repairRequest(request: ReadRequest, parts: RequestParts): Promise<ReadRequest> {
  if (!request.profile.repair || whyUntouched(request, parts.models) !== null) return request
  const { received, place } = request
  const { failures, reading } = parts
  const chat = await failures.around('repair', received, repairedChat, received, place.scope, reading)
  if (chat.repairs === null) return request
  parts.onRepaired(chat.repairs)
  return { ...request, chat: received.signedMessages === undefined ? chat : withFreeThoughts(chat) }
}

/** The same conversation repaired; the very one where nothing is broken. Throws an InvariantError where it got no better. */
export async function repairedChat(received: Chat, scope: string, reading: ReadChatOptions): Promise<Chat> {
  const { dialect, messages, bytes, source } = received
  const found = await runInSlices(dialect.rules.repair(source, messages))
  if (found === null) return received
  const body = bytesOf(bytes, spliceMessages(messages, found.items, received.body.history, bytes.length))
  const read = await readBytes(dialect, body, scope, reading, found)
  if (typeof read === 'string') throw new InvariantError(`the repaired body cannot be read: ${read}`)
  if (brokenRules(read) > brokenRules(received)) throw new InvariantError('the repair breaks more rules')
  return read
}

// --- internal ---

function brokenRules({ dialect, messages }: Chat): number {
  const shapes = messages.map(({ facts }) => facts)
  return runAtOnce(dialect.rules.violations(shapes)).length
}
