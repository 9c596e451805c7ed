import { findHistory } from '../body-members.ts'
import { textOf } from '../content/content-parts.ts'
import { joinedMessages } from '../content/joined-content.ts'
import { textPart } from '../content/text-part.ts'
import type { Dialect } from '../contract.ts'
import { messagesAnswers } from './answers.ts'
import { isMessagesBody, readMessagesBody } from './body.ts'
import { messagesCacheMarks } from './cache-marks.ts'
import { describeBlock, parseBlock } from './describe.ts'
import { joinedSystems } from './system-messages.ts'
import { messagesErrorBody } from './error-body.ts'
import { messagesFields } from './fields.ts'
import { messagesRecallTools } from './recall-tools.ts'
import { repairBlocks } from './repair.ts'
import { messagesReplies } from './reply/replies.ts'
import { blockViolations } from './rules.ts'
import { editedBlock, blockSlots, withoutBlockMedia } from './slots.ts'
import { messagesSummaries } from './summaries.ts'

/**
 * Anthropic's Messages API, as its own servers and those of others speak it. An entry is a block of an assistant's message, or of
 * a user's that brings results; every other message is one as a whole.
 */
export const messages: Dialect = {
  name: 'messages',
  entryName: 'block',
  howToSendAll: 'have the client send all of its messages, without thread',
  paths: ['messages'],
  bodies: {
    knownFields: messagesFields,
    findHistory: (source) => findHistory(source, 'messages'),
    read: readMessagesBody,
    isSurelyOwn: isMessagesBody,
    systemText: textOf,
  },
  entries: {
    describe: describeBlock,
    fromText: null,
    parse: parseBlock,
    slots: blockSlots,
    edited: editedBlock,
    withoutMedia: withoutBlockMedia,
    // Thoughts are blocks of their own, and nothing names them.
    unbound: (entry) => entry,
    user: (text) => JSON.stringify({ role: 'user', content: openedTexts(text).map(textBlock) }),
    joined: (entries, base) => joinedMessages(entries, base, textPart),
    joinedSystems,
  },
  rules: { violations: blockViolations, systemMayLead: false, repair: repairBlocks },
  answers: messagesAnswers,
  replies: messagesReplies,
  summaries: messagesSummaries,
  recall: messagesRecallTools,
  // Imitators sign with a UUID, or with whatever was sent.
  bindsThoughts: (names, isAnthropic) => isAnthropic || names.some((name) => /claude|anthropic/i.test(name)),
  cacheMarks: messagesCacheMarks,
  errorBody: messagesErrorBody,
}

// --- internal ---

/**
 * A text, and apart from it the tag that opens it: what is marked at the tag ends before what stands within, which is
 * another one after each compaction.
 */
function openedTexts(text: string): readonly string[] {
  const tag = /^<[a-z-]+>\n/.exec(text)?.[0] ?? ''
  return [tag, text.slice(tag.length)].filter((part) => part !== '')
}

function textBlock(text: string): object {
  return { type: 'text', text }
}
