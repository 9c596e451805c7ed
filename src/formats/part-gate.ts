import type { Part } from './reply-wire.ts'

export type PartGate = ReturnType<typeof createPartGate>

/**
 * Decides which parts of one answer the client gets to see.
 *
 * Calls of Foldgate's tool are never shown. A server binds its thoughts to all that was sent before them, and the client will send
 * back what it got. Thoughts of an answer that went on behind a recall or a cut, or that stand behind a hidden call, were made
 * behind something that the client will not send: they are hidden, too. The parts that follow them are foreign: under the id that
 * the server gave they would demand these thoughts.
 *
 * Other thoughts are shown whatever they led to, since some models want a turn that calls tools to begin with them, unless
 * `thoughtsWait`: then they are shown with something that the client sees, and hidden if they led to nothing else than a call of
 * Foldgate's tool.
 */
export function createPartGate({ hidesThoughts, thoughtsWait }: GateRules) {
  let isForeign = hidesThoughts
  let waiting: Part[] = []
  let isBehindOurs = false
  let hasOurs = false

  function settle(fate: 'shown' | 'hidden'): void {
    for (const part of waiting) part.fate = fate
    waiting = []
  }

  return {
    /** Takes the next part; decides on it, and maybe on those that waited for it. */
    take: (part: Part, isOurs: boolean) => {
      if (isOurs) {
        part.fate = 'hidden'
        isBehindOurs = true
        hasOurs = true
      } else if (part.kind !== 'thought') {
        settle('shown')
        part.fate = 'shown'
        part.isForeign = isForeign
        isBehindOurs = false
      } else {
        if (hasOurs) {
          settle('hidden')
          isForeign = true
        }
        if (isForeign) part.fate = 'hidden'
        else if (thoughtsWait) waiting.push(part)
        else part.fate = 'shown'
      }
    },
    /** No more parts come: decides on those that waited. */
    end: () => {
      settle(isBehindOurs ? 'hidden' : 'shown')
    },
    hasOurs: () => hasOurs,
  }
}

type GateRules = { readonly hidesThoughts: boolean; readonly thoughtsWait: boolean }
