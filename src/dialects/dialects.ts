import { chatCompletions } from './chat-completions/chat-completions.ts'
import type { Dialect } from './contract.ts'
import { responses } from './responses/responses.ts'

/** The dialects that Foldgate reads: all that has to be added for one more, beside its folder. */
export const dialects: readonly Dialect[] = [chatCompletions, responses]
