import { sum } from '../../conversation/sizes.ts'
import { standaloneJson } from '../../json/splice.ts'
import type { History } from '../history/history.ts'
import type { ViewMessage } from './view-message.ts'

/**
 * Strict placement: where user messages meet that did not meet in the conversation, or a recap meets one, the
 * run of them becomes one message, since templates that want the roles to alternate refuse two in a row. It keeps the fields of the run's first
 * message of the client's, its content has the type of that message's (parts where media need them), and
 * the texts keep their encoding.
 */
export function joinUsers(history: History, messages: readonly ViewMessage[]): ViewMessage[] {
  const placed: ViewMessage[] = []
  for (let start = 0; start < messages.length;) {
    let end = start
    while (messages[end]?.role === 'user') end += 1
    const run = messages.slice(start, end)
    const meetsAnew = run.some((message, position) => isNewHere(history, message, run[position - 1]))
    const joined = run.length > 1 && meetsAnew ? joinRun(history, run) : null
    if (joined !== null) placed.push(joined)
    else placed.push(...messages.slice(start, Math.max(end, start + 1)))
    start = Math.max(end, start + 1)
  }
  return placed
}

/** The message of a joined run whose fields it has: the first of the client's, else the first. */
export function baseOf(run: readonly ViewMessage[]): ViewMessage | undefined {
  return run.find((message) => message.index !== null) ?? run[0]
}

// --- internal ---

/** Whether a message did not follow the one before it in the client's conversation. */
function isNewHere(history: History, message: ViewMessage, before: ViewMessage | undefined): boolean {
  if (message.index === null || history.structure.isStandIn(message.index)) return true
  return before !== undefined && message.index !== (before.index ?? message.index) + 1
}

/** Joining saves a message's frame and costs the break between the texts. */
const JOIN_SAVES_TOKENS = 2

function joinRun(history: History, run: readonly ViewMessage[]): ViewMessage | null {
  const base = baseOf(run)
  if (base === undefined) return null
  const { entries } = history.dialect
  const json = entries.joined(
    run.map(({ item }) => standaloneJson(history.source, history.messages, item)),
    run.indexOf(base),
  )
  if (json === null) return null
  const tokens = sum(run.map((message) => message.tokens)) - JOIN_SAVES_TOKENS * (run.length - 1)
  return { ...base, item: { kind: 'made', json }, tokens, joined: run }
}
