import { openDice, type Dice } from '../../../src/demo/dice.ts'
import { sampleSource } from '../../../src/demo/sample-text.ts'
import { markOf } from './marks.ts'
import type { Manner, Visit } from './visit.ts'

type Message = { readonly role: string; readonly content: string }

/** A client's conversation and uploads, one request after the other. */
export type Visits = {
  readonly next: () => Visit
  /** The conversation goes on with this answer; without it the last question is asked anew. */
  readonly answered: (text: string) => void
}

/**
 * When it is long the client begins the same conversation again: memory that grows all the same is not that of what is
 * remembered. `manners` decides how it behaves, which is never the same.
 */
export function openVisits(tenant: string, worker: number, manners: Dice): Visits {
  let number = 0
  let texts = openDice(0)
  let messages: Message[] = []

  function begin(): void {
    number = worker * NUMBERS
    texts = openDice(number)
    messages = [
      { role: 'system', content: `You work for ${markOf(tenant, number)}.` },
      { role: 'user', content: `Read the sources. ${sampleSource(texts, 10)}` },
    ]
  }
  function chat(mark: string): Omit<Visit, 'tenant' | 'mark' | 'manner'> {
    const stream = texts.below(2) === 0
    const question = `${sampleSource(texts, 5 + texts.below(40))} Asked by ${mark}`
    messages.push({ role: 'user', content: question })
    return {
      kind: stream ? 'streamed chat' : 'plain chat',
      path: '/v1/chat/completions',
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify({ model: 'm', stream, messages })),
    }
  }
  return {
    next: function next() {
      if (messages.length === 0 || messages.length > MESSAGES_MAX || number % NUMBERS === NUMBERS - 1) begin()
      number += 1
      const mark = markOf(tenant, number)
      const roll = texts.below(10)
      const what = roll === 0 ? embeddings(mark) : roll === 1 ? upload(mark, texts) : chat(mark)
      return { ...what, tenant, mark, manner: mannerBy(manners) }
    },
    answered: (text) => {
      if (text === '') messages.pop()
      else messages.push({ role: 'assistant', content: text })
    },
  }
}

// --- internal ---

/** A conversation is compacted some times before it is this long. */
const MESSAGES_MAX = 60

/** Marks of a conversation; one that is refused again and again is given up before they are used up. */
const NUMBERS = 200

function mannerBy(dice: Dice): Manner {
  const roll = dice.below(100)
  if (roll < 70) return 'stays'
  if (roll < 76) return 'reads slowly'
  if (roll < 82) return 'writes slowly'
  return dice.pick(['leaves while sending', 'leaves while waiting', 'leaves while reading'])
}

function embeddings(mark: string) {
  return {
    kind: 'embeddings' as const,
    path: '/v1/embeddings',
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify({ model: 'e', input: mark })),
  }
}

function upload(mark: string, dice: Dice) {
  return {
    kind: 'upload' as const,
    path: '/v1/files',
    contentType: 'application/octet-stream',
    body: Buffer.concat([Buffer.alloc(1 + dice.below(1_000_000), 46), Buffer.from(` ${mark}`)]),
  }
}
