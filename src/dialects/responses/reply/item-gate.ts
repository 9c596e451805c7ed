import type { JsonObject } from '../../../conversation/json-value.ts'
import type { CallRules } from '../../answer-contract.ts'
import { isOurCall } from './reply.ts'

/** An item of an answer's output. `shown`: the client gets to see it. */
export type Gated = {
  readonly json: JsonObject
  fate: 'waiting' | 'shown' | 'hidden'
  /** Whether it was made behind something that the client does not know. */
  isForeign: boolean
}

/** Decides which items of one answer the client gets to see. */
export type ItemGate<Item> = {
  /** Takes the next item; decides on it, and maybe on those that waited for it. */
  readonly take: (item: Item) => void
  /** No more items come: decides on those that waited. */
  readonly end: () => void
  readonly hasOurs: () => boolean
}

/**
 * Calls of Foldgate's tool are never shown. Thoughts belong to what follows them, and wait for it if it may be such a call: they
 * are shown with something that the client sees, and are hidden if they led to nothing else than such a call.
 *
 * A server binds its thoughts to all that was sent before them, and the client will send back what it got. Thoughts of an answer
 * that went on behind a recall or a cut, or that stand behind a hidden call, were made behind something that the client will
 * not send: they are hidden, too. The items that follow them are foreign: under the id that the server gave they would demand
 * these thoughts.
 */
export function createItemGate<Item extends Gated>(rules: CallRules, isFurther: boolean): ItemGate<Item> {
  let isForeign = isFurther
  let waiting: Item[] = []
  let isBehindOurs = false
  let hasOurs = false

  function settle(fate: Item['fate']): void {
    for (const item of waiting) item.fate = fate
    waiting = []
  }

  function show(item: Item): void {
    settle('shown')
    item.fate = 'shown'
    item.isForeign = isForeign
  }

  return {
    take: (item) => {
      if (isOurCall(item.json, rules)) {
        item.fate = 'hidden'
        isBehindOurs = true
        hasOurs = true
      } else if (item.json['type'] !== 'reasoning') {
        show(item)
        isBehindOurs = false
      } else {
        if (hasOurs) {
          settle('hidden')
          isForeign = true
        }
        if (isForeign) item.fate = 'hidden'
        else if (rules.toolName === null) show(item)
        else waiting.push(item)
      }
    },
    end: () => {
      settle(isBehindOurs ? 'hidden' : 'shown')
    },
    hasOurs: () => hasOurs,
  }
}
