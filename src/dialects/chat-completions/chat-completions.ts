import { errorBody } from '../../errors.ts'
import type { Dialect } from '../contract.ts'
import { chatLimits, isTelling, readAnswer, readEvent } from './answers.ts'
import { findHistory } from '../body-members.ts'
import { unboundMessage, unboundTurns } from './bound-thoughts.ts'
import { readChatBody } from './body.ts'
import { describeMessage, parseMessage } from './describe.ts'
import { chatFields } from './fields.ts'
import { joinedMessages } from '../content/joined-content.ts'
import { recallTools } from './recall-tools.ts'
import { repairConversation } from './repair.ts'
import { asStream } from './reply/as-stream.ts'
import { readChunk, writeChunk } from './reply/chunk.ts'
import { createPlainReply } from './reply/plain-reply.ts'
import { createReplyStream } from './reply/reply-stream.ts'
import { readReply } from './reply/reply.ts'
import { goOnTurn, recallTurn } from './reply/turns.ts'
import { violationsOf } from './rules.ts'
import { slotsOf } from './slots.ts'
import { saidApart } from './speakers.ts'
import { textPart } from '../content/text-part.ts'
import { edited, valueIn, withoutMedia } from '../content/slot-edits.ts'
import { summaryCalls } from './summaries.ts'
import { createUsageHider } from './usage-hider.ts'
import { thoughtRefusalIn } from '../thought-refusals.ts'

/** OpenAI's chat completions, as its own servers and those of many others speak it. An entry is a message. */
export const chatCompletions: Dialect = {
  name: 'chat-completions',
  entryName: 'message',
  howToSendAll: null,
  paths: ['chat/completions'],
  bodies: {
    knownFields: chatFields,
    findHistory: (source) => findHistory(source, 'messages'),
    read: readChatBody,
    isSurelyOwn: () => false,
    systemText: () => '',
  },
  entries: {
    describe: describeMessage,
    fromText: null,
    parse: parseMessage,
    slots: slotsOf,
    edited: (source, message, texts, mediaKept) => edited(source, message, texts, mediaKept, textPart),
    withoutMedia: (source, message, kept, mark) =>
      withoutMedia(source, message, valueIn(source, message, 'content'), kept, mark, textPart),
    unbound: unboundMessage,
    user: (text) => JSON.stringify({ role: 'user', content: text }),
    joined: (messages, base) => joinedMessages(saidApart(messages), base, textPart),
    joinedSystems: null,
  },
  rules: { violations: violationsOf, systemMayLead: true, repair: repairConversation },
  answers: {
    limits: chatLimits,
    read: readAnswer,
    openStream: () => readEvent,
    isTelling,
    asStream,
    thoughtRefusal: thoughtRefusalIn,
    usageHider: createUsageHider,
  },
  replies: {
    read: readReply,
    plain: createPlainReply,
    stream: createReplyStream,
    isDone: (event) => readChunk(event).kind === 'done',
    errorEvent: (error) => writeChunk(error) ?? '',
    answeredCalls: recallTurn,
    goOn: goOnTurn,
    unbound: unboundTurns,
    bindsThoughts: false,
  },
  summaries: summaryCalls,
  recall: recallTools,
  bindsThoughts: () => true,
  cacheMarks: null,
  errorBody,
}
