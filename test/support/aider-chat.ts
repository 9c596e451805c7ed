import { openDice } from '../../src/demo/dice.ts'
import { sampleSource } from '../../src/demo/sample-text.ts'
import type { TestMessage } from './conversations.ts'

export type AiderChatOptions = {
  readonly requests: number
  /** Where the reminder stands: in a system message of its own, or at the end of the user's newest message. */
  readonly reminder: 'message' | 'inside'
  /** Lines of the file that is being edited. */
  readonly fileLines: number
  /** Lines of each answer. */
  readonly answerLines: number
  /** What stands between the system message and the history: examples, or a map of the repository. */
  readonly before?: readonly TestMessage[]
  /** What the user's messages begin with. */
  readonly subject?: string
}

/**
 * The requests of a chat with a client that puts its files and a reminder behind the history: what was asked and answered
 * comes before them at the next request, and the file has been edited meanwhile.
 */
export function aiderChat(options: AiderChatOptions): readonly (readonly TestMessage[])[] {
  const { requests, reminder, fileLines, answerLines, before = [], subject = 'Step' } = options
  const dice = openDice(5)
  const file = sampleSource(dice, fileLines)
  const rules = 'Answer with search/replace blocks only.'
  const history: TestMessage[] = []
  return Array.from({ length: requests }, (_, turn) => {
    const asked = `${subject} ${turn}: make the settlement retry at most ${turn} times.`
    const sent = [
      { role: 'system', content: 'You are an expert programmer. Edit the files you are given.' },
      ...before,
      ...history,
      { role: 'user', content: `These are the files, as they are now:\n// edited ${turn} times\n${file}` },
      { role: 'assistant', content: 'Ok, any changes I propose are to these files.' },
      { role: 'user', content: reminder === 'inside' ? `${asked}\n\n${rules}` : asked },
      ...(reminder === 'message' ? [{ role: 'system', content: rules }] : []),
    ]
    history.push(
      { role: 'user', content: asked },
      { role: 'assistant', content: sampleSource(dice, answerLines) },
    )
    return sent
  })
}
