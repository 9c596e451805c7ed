import type { Chat, UnreadReason } from '../../pipeline/request.ts'
import { HOW_TO_SEND_ALL } from '../told-words.ts'
import { dialects } from '../../formats/formats.ts'
import { createFactsReader } from '../../formats/entry-facts.ts'
import type { BodyLimits } from '../../json/body-spans.ts'
import { FoldgateError } from '../../errors.ts'
import { digest, readBytes, type ReadChatOptions } from '../../pipeline/read/read-chat.ts'

/** The scope of explain's own reading; no client has it. */
export const ASKED_SCOPE = 'explain'

/** What reads a body and what is made of it. One for each question, so that nothing of it is kept. */
export function readingOnce(limits: BodyLimits): ReadChatOptions {
  return {
    readFacts: createFactsReader(digest, { entriesMax: FACTS_ENTRIES_MAX }),
    limits,
  }
}

/** The request that is asked about. Throws `malformed_request` where it is none. */
export async function readAsked(body: Buffer, reading: ReadChatOptions): Promise<Chat> {
  let reason: UnreadReason = 'no-messages'
  let found: Chat | null = null
  for (const dialect of dialects) {
    const chat = await readBytes(dialect, body, ASKED_SCOPE, reading)
    // The dialect in which it has a history says more of what is wrong.
    if (typeof chat === 'string') reason = chat === 'no-messages' ? reason : chat
    else if (found === null || dialect.bodies.isSurelyOwn?.(chat.source, chat.body) === true) found = chat
  }
  if (found !== null) return found
  throw new FoldgateError('malformed_request', `${unread[reason]} ${WANTED}`)
}

// --- internal ---

const FACTS_ENTRIES_MAX = 100_000

const WANTED =
  'What is wanted is the body of a request for a chat completion, a response or a message of Anthropic’s API, as a client sends it: {"model": …, "messages": […]} or {"model": …, "input": […]}. A proxied request like this would be relayed as it is.'

const unread: Readonly<Record<UnreadReason, string>> = {
  'not-utf8': 'The body is not UTF-8: write the file anew in that encoding.',
  bom: 'The body begins with a byte order mark, which JSON does not allow: save the file without it.',
  'not-json-object': 'The body is no JSON object.',
  'duplicate-key': 'The body has a key twice: which value counts is up to the reader, so nothing is changed.',
  'invalid-value':
    'A key or one of the short values of the body, such as its model, is thousands of characters long.',
  'too-deep': 'Lists and objects stand in each other deeper than limits.depth allows.',
  'too-many-elements': 'The body has more elements than limits.elements allows.',
  'too-many-keys': 'The body has more keys than limits.keys allows.',
  'too-many-messages': 'The body has more messages or items than limits.messages allows.',
  'too-many-parts': 'A message or item has more elements than limits.parts allows.',
  'no-messages': 'The body has no messages: "messages" or "input" is missing, empty, or no list.',
  'message-unreadable':
    'A message or item in the body cannot be read with certainty: each is an object with a role or a type, and no key twice.',
  stateful: `The history, or a part of it, does not stand in the input: with the whole of it there Foldgate can read it: ${HOW_TO_SEND_ALL}.`,
  native:
    'The request has the server compact its history (context_management), so that Foldgate leaves it alone: take that out, or leave it.',
  encoding: 'The body has a content coding: unpack it first.',
  failed: 'The body could not be read.',
}
