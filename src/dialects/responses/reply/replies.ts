import type { Replies } from '../../answer-contract.ts'
import { isDone, writeEvent } from './events.ts'
import { createPlainResponse } from './plain-reply.ts'
import { createResponseStream } from './reply-stream.ts'
import { readResponseReply } from './reply.ts'
import { goOnItems, recallItems, unboundItems } from './turns.ts'

/** Makes one response of several, and asks a model to go on. */
export const responsesReplies: Replies = {
  read: readResponseReply,
  plain: createPlainResponse,
  stream: createResponseStream,
  isDone,
  errorEvent: (error) =>
    writeEvent('error', 'error' in error ? { ...error, type: 'error' } : { type: 'error', error }) ?? '',
  answeredCalls: recallItems,
  goOn: goOnItems,
  unbound: unboundItems,
  bindsThoughts: true,
}
