import { meaningKeys } from '../../conversation/keys.ts'
import type { FactsReader } from '../../conversation/facts.ts'
import type { Message } from '../../conversation/message.ts'
import { readMessages } from '../../conversation/messages.ts'
import type { Repaired, Repairs } from '../../conversation/repair/repair.ts'
import type { Source } from '../../conversation/source.ts'
import { structureOf, type Structure } from '../../conversation/structure.ts'
import {
  readChatCompletion,
  type ChatCompletion,
  type NotReadReason,
} from '../../dialects/chat-completions.ts'
import type { ValidatedValues } from '../../dialects/validated-values.ts'
import { bodySource, digest } from './body-source.ts'
import { drive } from '../drive.ts'
import type { RequestBody } from './read-body.ts'

/** A chat completion request that was read with certainty. */
export type Chat = {
  /** The bytes that were read: the client's, without their content coding, or repaired. */
  readonly bytes: Buffer
  readonly source: Source
  readonly completion: ChatCompletion
  readonly messages: readonly Message[]
  readonly structure: Structure
  /** The meaning key of every prefix: `keys[i]` stands for the first i messages. */
  readonly keys: readonly string[]
  /** What was repaired in it; null where it is the client's own. */
  readonly repairs: Repairs | null
}

/** Why a body is relayed as it came. */
export type UnreadReason = NotReadReason | 'encoding' | 'not-utf8' | 'failed'

export type ReadChatOptions = {
  readonly readFacts: FactsReader
  readonly validatedOf: (scope: string) => ValidatedValues
}

/** Reads a body as a chat completion; the reason where that cannot be done with certainty. */
export async function readChat(
  body: RequestBody,
  scope: string,
  options: ReadChatOptions,
): Promise<Chat | UnreadReason> {
  return body.decoded === null ? 'encoding' : readBytes(body.decoded, scope, options)
}

/** The same of bytes that are at hand; `repaired` says what was changed in them on the way. */
export async function readBytes(
  bytes: Buffer,
  scope: string,
  options: ReadChatOptions,
  repaired: Pick<Repaired, 'standIns' | 'repairs'> | null = null,
): Promise<Chat | UnreadReason> {
  const source = bodySource(bytes)
  if (source === null) return 'not-utf8'
  const read = readChatCompletion(source, bytes.length, options.validatedOf(scope))
  if (!read.read) return read.reason
  const completion = read.request
  const messages = await drive(readMessages(completion.messageSpans, source, scope, options.readFacts))
  if (messages === null) return 'message-unreadable'
  const structure = structureOf(messages, repaired?.standIns)
  return {
    bytes,
    source,
    completion,
    messages,
    structure,
    keys: meaningKeys(messages, structure.systemCount, digest),
    repairs: repaired?.repairs ?? null,
  }
}
