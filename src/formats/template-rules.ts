import type { Role } from '../conversation/message.ts'
import type { EntryShape, Rule, Violation } from './contract.ts'

/** What somebody says or does at a stretch, and the entry that it begins with. */
export type Speech = { readonly index: number; readonly role: Role; readonly isCall: boolean }

/**
 * Where a conversation is not as the chat templates of many open models demand it, whatever it is written in. `name`: what the
 * list of its entries is called.
 */
export function templateViolations(speeches: readonly Speech[], name: string): readonly Violation[] {
  return [...misplacedSystems(speeches, name), ...turnViolations(speeches, name)]
}

/** What a template is shown where a reply stands in several entries: they are one message. */
export function speechesOf(entries: readonly EntryShape[]): readonly Speech[] {
  const speeches: Speech[] = []
  for (const [index, { role, callIds }] of entries.entries()) {
    const last = speeches.at(-1)
    if (role === 'other') continue
    if (role === 'assistant' && last?.role === 'assistant' && entries[index - 1]?.role === 'assistant')
      speeches[speeches.length - 1] = { ...last, isCall: last.isCall || callIds.length > 0 }
    else speeches.push({ index, role, isCall: callIds.length > 0 })
  }
  return speeches
}

export function violation(index: number, rule: Rule, message: string): Violation {
  return { index, rule, message }
}

// --- internal ---

function misplacedSystems(messages: readonly Speech[], name: string): readonly Violation[] {
  return messages.flatMap(({ role, index }, position) =>
    isSystem(role) && position > 0
      ? [violation(index, 'system-misplaced', `'${name}[${index}]': a system message may only come first.`)]
      : [],
  )
}

// As Mistral's templates check it: tool messages and assistant messages with calls take no turn, so that two
// user messages with nothing but a tool round between them do not alternate.
function turnViolations(messages: readonly Speech[], name: string): readonly Violation[] {
  const violations: Violation[] = []
  const first = messages.find(({ role }) => !isSystem(role))
  if (first !== undefined && first.role !== 'user') {
    const { index } = first
    const text = `'${name}[${index}]': the first message after the system message must be a user message.`
    violations.push(violation(index, 'user-preceded', text))
  }
  let previous: Role | null = null
  for (const { index, role, isCall } of messages) {
    if (role !== 'user' && (role !== 'assistant' || isCall)) continue
    if (role === previous) {
      const text = `'${name}[${index}]': user and assistant messages must alternate.`
      violations.push(violation(index, 'role-repeated', text))
    }
    previous = role
  }
  return violations
}

function isSystem(role: Role): boolean {
  return role === 'system' || role === 'developer'
}
