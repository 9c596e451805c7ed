import type { Replies } from '../../answer-contract.ts'
import { isLastEvent, writeMessageEvent } from './events.ts'
import { createPlainMessage } from './plain-reply.ts'
import { createMessageStream } from './reply-stream.ts'
import { readMessageReply } from './reply.ts'
import { goOnMessages, recallMessages, unboundMessages } from './turns.ts'

/** Makes one message of several, and asks a model to go on. */
export const messagesReplies: Replies = {
  read: readMessageReply,
  plain: createPlainMessage,
  stream: createMessageStream,
  isDone: isLastEvent,
  errorEvent: (error) =>
    writeMessageEvent('error' in error ? { ...error, type: 'error' } : { type: 'error', error }) ?? '',
  answeredCalls: recallMessages,
  goOn: goOnMessages,
  unbound: unboundMessages,
  bindsThoughts: true,
}
