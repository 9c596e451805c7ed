import { openDice } from '../../src/commands/demo/dice.ts'
import { samplePath, sampleSource } from '../../src/commands/demo/tools.ts'

export type PlainMessage = { readonly role: 'user' | 'assistant'; readonly content: string }

/** Sixty-one messages, of more than six thousand tokens: questions about files, answered with their text. */
export function longConversation(): readonly PlainMessage[] {
  const dice = openDice(6)
  const messages = Array.from({ length: 30 }, (): PlainMessage[] => [
    { role: 'user', content: `What does ${samplePath(dice)} do?` },
    { role: 'assistant', content: sampleSource(dice, 20) },
  ]).flat()
  return [...messages, { role: 'user', content: 'Which of them was the longest?' }]
}
