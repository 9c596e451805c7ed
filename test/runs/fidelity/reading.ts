import type { WireMessage } from '../../support/strict-upstream/wire-message.ts'
import { runsOf } from './runs.ts'
import { textsIn } from './texts.ts'
import { thingsOf } from './things.ts'

/** What one message names and says. */
export type Reading = {
  readonly things: ReadonlySet<string>
  /** Its runs of six words. */
  readonly runs: ReadonlySet<string>
}

type Written = { readonly text: string; readonly message: WireMessage }

/** Reads messages, each of the same JSON text once: the same object comes back. */
export function openReader(): (written: Written) => Reading {
  const known = new Map<string, Reading>()
  return function read({ text, message }) {
    const before = known.get(text)
    if (before !== undefined) return before
    const texts = textsIn(message)
    const reading = {
      things: new Set(texts.flatMap((each) => [...thingsOf(each)])),
      runs: new Set(texts.flatMap((each) => [...runsOf(each)])),
    }
    known.set(text, reading)
    return reading
  }
}
