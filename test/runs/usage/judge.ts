import type { Scenario } from './orders.ts'
import type { Seen, Told } from './walk-talk.ts'

/** What was seen of one conversation, or of several; `misses`: what was promised and not kept. */
export type Verdict = ReturnType<typeof judgeHonest>

/** Holds what was seen against what an honest server said; there nothing is to be learnt but what a refusal stated. */
export function judgeHonest(scenario: Scenario, seen: readonly Seen[], told: Told) {
  const { windowTokens, configuredTokens } = scenario
  const isTrue = (tokens: number) => configuredTokens === null && tokens === windowTokens
  const wrong = told.windows.filter((event) => !isTrue(event.windowTokens))
  const cuts = wrong.filter(({ reason }) => reason === 'cut')
  const falseSeen = seen.filter((each, index) => !isTrueWindow(scenario, each, seen.slice(0, index)))
  const headers = falseSeen.filter(({ source }) => source === 'learnt').map((each) => each.windowTokens)
  const learnt = new Set([...headers, ...wrong.map((event) => event.windowTokens)])
  for (const cut of cuts) learnt.delete(cut.windowTokens)
  const concluded = new Set(cuts.map((event) => event.windowTokens))

  const errors = seen.flatMap((each, index) => (index === 0 ? [] : countError(each)))
  const refused = seen.filter(({ status }) => status !== 200)
  return {
    requests: seen.length,
    // Although nobody had stated them.
    windowsLearnt: learnt.size,
    // From prompts which seemed to be cut, although none was, or nothing could say so.
    cutsConcluded: concluded.size,
    falseWindows: falseSeen.length,
    // By the server's count and with room for the reply.
    foldedEarly: seen.filter((each) => each.isRewritten && fits(each, windowTokens)).length,
    refused: refused.length,
    countErrorMax: Math.max(0, ...errors),
    cut: 0,
    misses: [
      ...[...learnt].map((tokens) => `learnt a window of ${tokens}`),
      ...[...concluded].map((tokens) => `concluded from a cut that the window is ${tokens}`),
      ...falseSeen.slice(0, 1).map((each) => `answered under ${each.windowTokens};source=${each.source}`),
      ...refused
        .filter((each) => configuredTokens !== null || fits(each, windowTokens))
        .slice(0, 1)
        .map((each) => `answered ${each.status}`),
      ...told.failures,
    ],
  }
}

/** Holds what was seen against an Ollama that cuts: three cut requests are to be enough, where it says what it is. */
export function judgeOllama(scenario: Scenario, seen: readonly Seen[], told: Told): Verdict {
  const { kind, windowTokens, configuredTokens } = scenario
  // What no rewriting makes smaller comes out cut whatever is known.
  const avoidable = seen.filter((each) => each.leastTokens + reserveOf(each, windowTokens) <= windowTokens)
  const cut = avoidable.filter(({ isCut }) => isCut).length
  const lowest = kind === 'ollama' ? windowTokens : Math.ceil(windowTokens * LEAST_SHARE)
  const isRight = (tokens: number) => tokens <= windowTokens && tokens >= lowest
  const isExpected = configuredTokens === null && kind !== 'ollama-gateway'
  const isFalse = (each: Seen) =>
    isExpected ? isFound(each) && !isRight(each.windowTokens) : !isTold(scenario, each)
  const falseSeen = seen.filter(isFalse)
  const events = told.windows.filter((event) => !isExpected || !isRight(event.windowTokens))
  const last = seen.at(-1)
  // Nothing may tell the first cuts from odd reports, nor any of a server that hides what it is.
  const isManifest = !isExpected && kind !== 'ollama-gateway'
  const isUnwarned =
    isManifest && seen.filter(({ isCut }) => isCut).length > CUTS_MAX && told.warnings.length === 0

  const misses = [
    ...falseSeen.slice(0, 1).map((each) => `answered under ${each.windowTokens};source=${each.source}`),
    ...events.slice(0, 1).map((event) => `learnt a window of ${event.windowTokens} (${event.reason})`),
    ...(isExpected && cut > CUTS_MAX ? [`${cut} requests came out cut`] : []),
    ...(isExpected && cut >= CUTS_MAX && last !== undefined && !isRight(last.windowTokens)
      ? [`ended under ${last.windowTokens};source=${last.source}`]
      : []),
    ...(isUnwarned ? ['cut, and nobody was warned'] : []),
    ...told.failures,
  ]
  const cuts = events.filter(({ reason }) => reason === 'cut').length
  return {
    requests: seen.length,
    windowsLearnt: events.length - cuts,
    cutsConcluded: cuts,
    falseWindows: falseSeen.length,
    foldedEarly: seen.filter((each) => each.isRewritten && fits(each, windowTokens)).length,
    refused: seen.filter(({ status }) => status !== 200).length,
    countErrorMax: 0,
    cut,
    misses,
  }
}

/** So many requests may come out cut before the window is known. */
const CUTS_MAX = 3
/** Without the server's own word the window that is concluded is not below this share of the true one. */
const LEAST_SHARE = 0.85

/** Before a refusal has stated it, what a table says is in force; after that nothing else than the truth. */
function isTrueWindow(scenario: Scenario, each: Seen, before: readonly Seen[]): boolean {
  if (scenario.configuredTokens !== null) return isTold(scenario, each)
  const isKnown = [...before, each].some(({ source }) => source === 'learnt')
  return !isKnown || each.windowTokens === scenario.windowTokens
}

/** Whether the window is what the settings say; without such, one that was only assumed. */
function isTold({ configuredTokens }: Scenario, { windowTokens, source }: Seen): boolean {
  if (configuredTokens === null) return source === 'table' || source === 'default'
  return windowTokens === configuredTokens && source === 'config'
}

const isFound = ({ source }: Seen): boolean => source === 'learnt' || source === 'server'

const fits = (each: Seen, windowTokens: number): boolean =>
  each.trueTokens + reserveOf(each, windowTokens) <= windowTokens

/** Never more than half of a window is kept for the reply; what it is without a limit is the profile's default. */
const reserveOf = ({ outputTokens }: Seen, windowTokens: number): number =>
  Math.min(outputTokens === 0 ? DEFAULT_RESERVE_TOKENS : outputTokens, windowTokens / 2)

const DEFAULT_RESERVE_TOKENS = 4096

/** How far Foldgate's size of the client's conversation is from the server's, less what the header rounds away. */
function countError(each: Seen): readonly number[] {
  const budgetTokens = each.windowTokens - reserveOf(each, each.windowTokens)
  if (each.pressure === null || each.trueTokens < budgetTokens * COUNTED_SHARE) return []
  const off = Math.abs(each.pressure * budgetTokens - each.trueTokens) - budgetTokens * ROUNDED_PRESSURE
  return [Math.max(0, off) / each.trueTokens]
}

/** Of smaller prompts nothing depends on the count. */
const COUNTED_SHARE = 0.5

/** Half of the header's last digit. */
const ROUNDED_PRESSURE = 0.005
