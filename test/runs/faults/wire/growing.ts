import { chatOf } from '../../../support/post-chat.ts'
import { longConversation, type RequestKind } from './request-kinds.ts'

/** A conversation that is compacted, after so many more exchanges with its user; another one for each seed. */
export function grownBy(exchanges: number, seed?: number): Pick<RequestKind, 'path' | 'body'> {
  const more = Array.from({ length: exchanges }, (_, index) => [
    { role: 'assistant', content: `Written, for the ${index + 1}. time.` },
    { role: 'user', content: `Shorter, please: draft ${index + 1}.` },
  ]).flat()
  return {
    path: '/chat/completions',
    body: Buffer.from(JSON.stringify(chatOf([...longConversation(seed), ...more]))),
  }
}
