import { isJsonObject } from '../../conversation/json-value.ts'
import { errorBody } from '../../errors.ts'
import { findHistory } from '../body-members.ts'
import { textOf } from '../content/content-parts.ts'
import { joinedMessages } from '../content/joined-content.ts'
import type { Dialect } from '../contract.ts'
import { responsesAnswers } from './answers.ts'
import { readResponsesBody } from './body.ts'
import { describeItem, parseItem } from './describe.ts'
import { responsesFields } from './fields.ts'
import { responsesRecallTools } from './recall-tools.ts'
import { repairInput } from './repair.ts'
import { responsesReplies } from './reply/replies.ts'
import { itemViolations } from './rules.ts'
import { editedItem, itemSlots, withoutItemMedia } from './slots.ts'
import { responsesSummaries } from './summaries.ts'
import { inputTextPart } from './text-part.ts'
import { unnamed } from './unnamed.ts'

/** OpenAI's Responses API, as its own servers and those of others speak it. An entry is an item of the input. */
export const responses: Dialect = {
  name: 'responses',
  entryName: 'item',
  howToSendAll:
    'have the client send all of it, with store: false and neither previous_response_id nor conversation; in the Vercel AI SDK with providerOptions: { openai: { store: false } }',
  paths: ['responses', 'responses/compact'],
  bodies: {
    knownFields: responsesFields,
    findHistory: (source) => findHistory(source, 'input'),
    read: readResponsesBody,
    isSurelyOwn: () => false,
    systemText: (instructions) =>
      Array.isArray(instructions) ? instructions.map(textOfItem).join('\n') : textOf(instructions),
  },
  entries: {
    describe: describeItem,
    fromText: (text) => ({ role: 'user', content: text }),
    parse: parseItem,
    slots: itemSlots,
    edited: editedItem,
    withoutMedia: withoutItemMedia,
    unbound: unnamed,
    user: (text) =>
      JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
    joined: (items, base) => joinedMessages(items, base, inputTextPart),
    joinedSystems: null,
  },
  rules: { violations: itemViolations, systemMayLead: true, repair: repairInput },
  answers: responsesAnswers,
  replies: responsesReplies,
  summaries: responsesSummaries,
  recall: responsesRecallTools,
  bindsThoughts: () => true,
  cacheMarks: null,
  errorBody,
}

// --- internal ---

function textOfItem(item: unknown): string {
  return isJsonObject(item) ? textOf(item['content']) : ''
}
