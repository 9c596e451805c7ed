import { repairConversation } from '../../src/dialects/chat-completions/repair.ts'
import type { Repairs } from '../../src/dialects/contract.ts'
import { finish } from '../../src/conversation/source.ts'
import { subjectFrom } from './subject.ts'

export type RepairedMessages = {
  readonly texts: readonly string[]
  /** Which messages of the conversation stand in it as they were, by their places in either. */
  readonly kept: ReadonlyMap<number, number>
  /** The places of user messages that stand for results. */
  readonly standIns: ReadonlySet<number>
  /** Null where nothing was broken. */
  readonly repairs: Repairs | null
}

/** A conversation, repaired, as JSON texts. A string is a JSON array as a client spelt it. */
export function repairedOf(conversation: readonly object[] | string): RepairedMessages {
  const body = typeof conversation === 'string' ? conversation : JSON.stringify(conversation)
  const { source, messages } = subjectFrom(body)
  const found = finish(repairConversation(source, messages))
  const items = found?.items ?? messages.map((_, index) => ({ kind: 'kept', index }) as const)
  const textOf = (index: number): string => {
    const message = messages[index]
    return message === undefined ? '' : source.text(message.start, message.end)
  }
  return {
    texts: items.map((item) => (item.kind === 'made' ? item.json : textOf(item.index))),
    kept: new Map(items.flatMap((item, place) => (item.kind === 'kept' ? [[item.index, place]] : []))),
    standIns: found?.standIns ?? new Set(),
    repairs: found?.repairs ?? null,
  }
}
