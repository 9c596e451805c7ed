import type { Dice } from '../../src/demo/dice.ts'
import { sampleSource } from '../../src/demo/sample-text.ts'
import { markOf } from './marks.ts'
import type { Manner, Visit } from './visit.ts'

type Message = { readonly role: string; readonly content: string }

/** A client's conversations and uploads, one request after the other. */
export type Visits = {
  readonly next: () => Visit
  /** The conversation goes on with this answer; without it the last request is asked again. */
  readonly answered: (text: string) => void
}

export function openVisits(tenant: string, worker: number, dice: Dice): Visits {
  let number = worker * 1_000_000
  let messages: Message[] = []

  function begin(): void {
    messages = [
      { role: 'system', content: `You work for ${markOf(tenant, worker)}.` },
      { role: 'user', content: `Read the sources. ${sampleSource(dice, 10)}` },
    ]
  }
  function chat(mark: string): Omit<Visit, 'tenant' | 'mark' | 'manner'> {
    if (messages.length === 0 || messages.length > MESSAGES_MAX) begin()
    const stream = dice.below(2) === 0
    const question = { role: 'user', content: `${sampleSource(dice, 5 + dice.below(40))} Asked by ${mark}` }
    messages.push(question)
    return {
      kind: stream ? 'streamed chat' : 'plain chat',
      path: '/v1/chat/completions',
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify({ model: 'm', stream, messages })),
    }
  }
  return {
    next: function next() {
      number += 1
      const mark = markOf(tenant, number)
      const roll = dice.below(10)
      const what = roll === 0 ? embeddings(mark) : roll === 1 ? upload(mark, dice) : chat(mark)
      return { ...what, tenant, mark, manner: mannerBy(dice) }
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
