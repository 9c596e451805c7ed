import { textsOf, type WireMessage } from '../../support/strict-upstream/wire-message.ts'
import type { AskedRule } from './chat.ts'

/** What a view still says of a rule. */
export type Verdict = {
  /** The user's words stand in it, and nothing that they replaced stands after them. */
  readonly isHeld: boolean
  /** What they refer to stands in it, too; null where they refer to nothing. */
  readonly isReferred: boolean | null
}

/** Reads a view once for all rules that are asked of it. */
export function openViewJudge(
  view: readonly WireMessage[],
): (rule: Pick<AskedRule, 'says' | 'old' | 'refersTo'>) => Verdict {
  // What stands between two messages is no word: nothing is read across.
  const text = view.flatMap(({ content }) => textsOf(content).map(plainText)).join(BETWEEN)
  return function judge({ says, old, refersTo }) {
    const saidAt = lastPlace(text, says)
    const oldAt = old === null ? NOWHERE : lastPlace(text, old)
    return {
      isHeld: saidAt !== NOWHERE && oldAt < saidAt,
      isReferred: refersTo === null ? null : lastPlace(text, refersTo) !== NOWHERE,
    }
  }
}

/** How often words stand in texts, by the same reading. */
export function timesSaid(texts: readonly string[], words: string): number {
  const text = texts.map(plainText).join(BETWEEN)
  return [...text.matchAll(patternOf(words))].length
}

// --- internal ---

const BETWEEN = ' \u0000 '
const NOWHERE = -1

/** Without case, with one space for any blank, and with the escapes undone by which JSON quotes a text. */
function plainText(text: string): string {
  return text
    .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    )
    .replaceAll(/\\+[nrt]/g, ' ')
    .replaceAll(/\\+(["/])/g, '$1')
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
}

/** Words from end to end: "option b" does not stand in "option bar". Marks around them may be others. */
function patternOf(words: string): RegExp {
  const bare = plainText(words).replaceAll(/^[\p{P}\p{Z}]+|[\p{P}\p{Z}]+$/gu, '')
  const literal = bare.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${literal}(?![\p{L}\p{N}])`, 'gu')
}

function lastPlace(text: string, words: string): number {
  return [...text.matchAll(patternOf(words))].at(-1)?.index ?? NOWHERE
}
