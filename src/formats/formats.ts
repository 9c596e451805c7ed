import { errorBody, type ErrorBody } from '../errors.ts'
import { chatCompletions } from './chat/chat.ts'
import type { Dialect } from './contract.ts'
import { messages } from './messages/messages.ts'
import { ollamaChat } from './ollama/ollama.ts'
import { responses } from './responses/responses.ts'

/** The dialects that Foldgate reads: all that has to be added for one more, beside its folder. */
export const dialects: readonly Dialect[] = [chatCompletions, responses, messages, ollamaChat]

/**
 * How Foldgate's own errors are written at a path: as the API does that has it, or what stands above it, whether such a
 * request is read or relayed (`/messages/count_tokens`, `/api/tags`).
 */
export function errorBodyAt(path: string): ErrorBody {
  const all = `${path}/`
  for (const [above, write] of errorBodies) if (all.includes(`/${above}/`)) return write
  return ollamaPath.test(path) ? ollamaChat.errorBody : errorBody
}

// --- internal ---

/** Everything of Ollama's is in this folder; that of others has a version there. Its clients show no error that is an object. */
const ollamaPath = /^\/api\/(?!v\d)/

const errorBodies: readonly (readonly [above: string, ErrorBody])[] = [
  // Messages of the Assistants API are OpenAI's.
  ['threads', errorBody],
  ...dialects.flatMap((dialect) => dialect.paths.map((path) => [path, dialect.errorBody] as const)),
]
