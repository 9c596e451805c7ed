import { countBelow } from '../../../conversation/structure.ts'
import type { Message } from '../../../conversation/message.ts'
import { remindersIn, withoutReminders } from '../../../conversation/reminders.ts'
import type { Pausable } from '../../../json/source.ts'
import { lruCache } from '../../../caches.ts'
import { NO_REFERENCES, type Reference, type References, type History, toolNameOf } from '../history.ts'
import { readMessage } from '../read-message.ts'
import { deedsOf, type Doing } from './deeds.ts'

/**
 * Which results refer to which: one that refers back (`refersBack`) and comes from the same tool with the same arguments as
 * an earlier result that had content, else from the same tool for the same path, stands for that text, unless a call between
 * them has changed the path.
 */
export function* referencesIn(history: Doing & Pick<History, 'countSteps'>): Pausable<References> {
  const { messages } = history
  if (!messages.some(({ facts }) => facts.refersBack === true)) return NO_REFERENCES
  const byIndex = new Map<number, Reference>()
  const groups = new Map<number, readonly number[]>()
  /** The newest results that had content, by what they were asked by; and by their paths, what that was. */
  const newest = new Map<string, number[]>()
  const namesOf = new Map<string, Set<string>>()
  const results = (yield* deedsOf(history)).flatMap((deed) =>
    deed.result === null || deed.failed ? [] : [{ ...deed, result: deed.result }],
  )
  results.sort((one, other) => one.result - other.result)
  for (const { result, asked, paths, changed, isLook } of results) {
    yield
    const message = messages[result]
    if (message === undefined) continue
    const files = isLook ? paths : []
    const names = [asked, ...files.map((path) => `${toolNameOf(history, result)} ${path}`)]
    let holders = [result]
    if (message.facts.refersBack === true) {
      const found = names.map((name) => newest.get(name)).find((each) => each !== undefined)
      const source = messages[found?.[0] ?? -1]
      if (found === undefined || source === undefined) continue
      const position = found.push(result) - 1
      byIndex.set(result, {
        holders: found,
        position,
        growthTokens: yield* growthOf(history, source, message),
      })
      for (const holder of found) groups.set(holder, found)
      if (found.length < HOLDERS_MAX) continue
      holders = found.slice(0, 1)
    } else if (changed.length > 0) {
      // What a change answers is no text of the file, and what was read before it holds no longer.
      for (const path of changed) {
        for (const name of namesOf.get(path) ?? []) newest.delete(name)
        namesOf.delete(path)
      }
      continue
    } else if (message.facts.media.length > 0 || !(yield* hasText(history, message))) continue
    for (const name of names) newest.set(name, holders)
    for (const path of paths) {
      const ofPath = namesOf.get(path) ?? new Set<string>()
      namesOf.set(path, ofPath)
      for (const name of names) ofPath.add(name)
    }
  }
  return {
    byIndex,
    indexes: [...byIndex.keys()],
    followersOf: (index) => {
      const holders = groups.get(index)
      return holders === undefined ? [] : holders.slice(countBelow(holders, index + 1))
    },
  }
}

/** What stands in the place of a reference: the text that it refers to, and what its client reminds of beside it. */
export function* resolvedText(
  history: Pick<History, 'source' | 'dialect'>,
  source: Message,
  reference: Message,
): Pausable<string> {
  const { text } = yield* readMessage(history, source)
  const own = (yield* readMessage(history, reference)).text
  const reminders = withoutReminders(own).trim() === '' ? [] : remindersIn(own).map((each) => `\n${each}`)
  return [RESOLVED_LINE, '\n', text, ...reminders].join('')
}

// --- internal ---

/** Says that the text is the earlier one; no client has said so. */
const RESOLVED_LINE = '[unchanged since the earlier call, whose result is repeated here]'

/** One that is referred to more often begins anew: each reference looks at those before it. */
const HOLDERS_MAX = 64

/** Results that are shorter than this are looked at: an empty one is nothing to refer to. */
const EMPTY_BYTES_MAX = 256

function* hasText(history: Doing, message: Message): Pausable<boolean> {
  if (message.facts.bytes > EMPTY_BYTES_MAX) return true
  return (yield* readMessage(history, message)).text.trim() !== ''
}

const growths = lruCache<number>(4_096)

function* growthOf(
  history: Doing & Pick<History, 'countSteps'>,
  source: Message,
  reference: Message,
): Pausable<number> {
  const key = `${history.memorySpace} ${source.facts.hash} ${reference.facts.hash}`
  const known = growths.get(key)
  if (known !== undefined) return known
  const own = yield* history.countSteps((yield* readMessage(history, reference)).text)
  const growth = (yield* history.countSteps(yield* resolvedText(history, source, reference))) - own
  growths.set(key, growth)
  return growth
}
