import { longRun, type TestMessage } from '../../../support/conversations.ts'
import { chatOf } from '../../../support/post-chat.ts'

/** A kind of request, as far as Foldgate handles it in a way of its own. */
export type RequestKind = {
  readonly name: 'plain' | 'streamed' | 'compacted' | 'compacted, streamed' | 'relayed'
  readonly path: string
  readonly body: Buffer
  readonly isStreamed: boolean
  readonly isCompacted: boolean
}

/** The profile under which the long conversation is compacted. */
export const smallWindow = { window: { tokens: 8_192, output_reserve: 1_024 } }

const short: readonly TestMessage[] = [{ role: 'user', content: 'Is the "nightly run" over?' }]

/** Is compacted in that window. Ends with a user's message, which no compaction may touch. */
const longConversation = (seed = 4): readonly TestMessage[] => [
  ...longRun(30, seed),
  { role: 'assistant', content: 'Repaired.' },
  { role: 'user', content: 'Now write the "changelog", please.' },
]

const long = longConversation()

export const requestKinds: readonly RequestKind[] = [
  chat('plain', short, {}),
  chat('streamed', short, { stream: true }),
  chat('compacted', long, {}),
  chat('compacted, streamed', long, { stream: true }),
  {
    name: 'relayed',
    path: '/embeddings',
    body: Buffer.from('{"model": "test-embedding", "input": "Is it over?"}'),
    isStreamed: false,
    isCompacted: false,
  },
]

/** The request that shows that all is well again. */
export const nextRequest = chat('plain', [{ role: 'user', content: 'And now?' }], {})

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

function chat(name: RequestKind['name'], messages: readonly TestMessage[], more: object): RequestKind {
  return {
    name,
    path: '/chat/completions',
    body: Buffer.from(JSON.stringify(chatOf(messages, more))),
    isStreamed: 'stream' in more,
    isCompacted: messages === long,
  }
}
