import { callsOf, parseObject, textOf, textsOf } from '../../support/strict-upstream/wire-message.ts'
import { rawMessage, type RawMessage } from '../harness/recordings.ts'
import {
  pinned,
  placeholder,
  roundsOf,
  sizeOfAll,
  type Policy,
  type PolicyInput,
  type Round,
} from './policies.ts'
import { thingsOf } from './wanted.ts'

/** Where not all fits, the oldest rounds go until half of what the head leaves is free. Until then nothing moves. */
export function openDropHalf(): Policy {
  let droppedRounds = 0
  return function dropHalf(input) {
    const { head, rest } = pinned(input.messages)
    const rounds = roundsOf(rest)
    const view = () => [...head, ...rounds.slice(droppedRounds).flat()]
    if (sizeOfAll(input, view()) <= input.budgetTokens) return view()
    const target = targetTokens(input, head, 1 / 2)
    while (droppedRounds < rounds.length - 1 && sizeOfAll(input, view()) > target) droppedRounds += 1
    return view()
  }
}

/**
 * A planner as small as one that still looks at what it takes out: where not all fits, it goes down to a share of what
 * the head leaves. First it clears results, those that weigh most by size and age before others, and much before them
 * those whose path a later call names again. Only where that is not enough the oldest rounds go, each for a line of a
 * recap. Until the budget is full again nothing moves.
 */
export function openQuickModel(share: number): Policy {
  const cleared = new Set<RawMessage>()
  let droppedRounds = 0
  const lines: string[] = []
  return function quickModel(input) {
    const { head, rest } = pinned(input.messages)
    const rounds = roundsOf(rest)
    const view = () => [
      ...head,
      ...(lines.length === 0 ? [] : [recapOf(lines)]),
      ...rounds
        .slice(droppedRounds)
        .flat()
        .map((message) => (cleared.has(message) ? placeholder(message) : message)),
    ]
    if (sizeOfAll(input, view()) <= input.budgetTokens) return view()
    const target = targetTokens(input, head, share)
    let excessTokens = sizeOfAll(input, view()) - target
    for (const result of clearable(input, rounds.slice(droppedRounds), cleared)) {
      if (excessTokens <= 0) break
      cleared.add(result)
      excessTokens -= input.sizeOf(result) - input.sizeOf(placeholder(result))
    }
    while (droppedRounds < rounds.length - 1 && sizeOfAll(input, view()) > target) {
      lines.push(recapLine(rounds[droppedRounds] ?? []))
      droppedRounds += 1
      while (lines.length > 1 && input.sizeOf(recapOf(lines)) > RECAP_TOKENS_MAX) lines.shift()
    }
    return view()
  }
}

const RECAP_TOKENS_MAX = 800
const SAID_CHARACTERS = 220
const COMMAND_CHARACTERS = 160
const RESULTS_KEPT = 3
/** A smaller result is hardly larger than the mark that would stand for it. */
const CLEARED_TOKENS_MIN = 100
/** How many times as much a result weighs whose path a later call names. */
const SUPERSEDED_WEIGHT = 4

const targetTokens = (input: PolicyInput, head: readonly RawMessage[], share: number): number => {
  const fixedTokens = sizeOfAll(input, head)
  return fixedTokens + share * (input.budgetTokens - fixedTokens)
}

/** Results that may be cleared, in the order in which they are. */
function clearable(
  { sizeOf }: PolicyInput,
  rounds: readonly Round[],
  cleared: ReadonlySet<RawMessage>,
): readonly RawMessage[] {
  const paths = rounds.map((round) => new Set(round.flatMap(pathsCalled)))
  const results = rounds.flatMap((round, place) =>
    round.filter(({ message }) => message['role'] === 'tool').map((result) => ({ result, place })),
  )
  return results
    .map(({ result, place }, order) => {
      const own = [...(paths[place] ?? [])]
      const isSuperseded = paths.slice(place + 1).some((later) => own.some((path) => later.has(path)))
      const isNewest = order >= results.length - RESULTS_KEPT
      const tokens = sizeOf(result)
      const age = rounds.length - 1 - place
      return {
        result,
        mayGo: tokens >= CLEARED_TOKENS_MIN && (!isNewest || isSuperseded) && !cleared.has(result),
        weight: tokens * (1 + age / 10) * (isSuperseded ? SUPERSEDED_WEIGHT : 1),
      }
    })
    .filter(({ mayGo }) => mayGo)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ result }) => result)
}

const pathsCalled = ({ message }: RawMessage): readonly string[] =>
  callsOf(message).flatMap(({ argumentsText }) =>
    [...thingsOf(argumentsText.replaceAll(/\\+[nrt]/g, ' '))].filter((thing) =>
      /\/|\.[a-z]{1,5}$/i.test(thing),
    ),
  )

const recapOf = (lines: readonly string[]): RawMessage =>
  rawMessage(JSON.stringify({ role: 'user', content: `Earlier steps:\n${lines.join('\n')}` }))

/** What was said in a round, and done. */
function recapLine(round: Round): string {
  const [first] = round
  if (first === undefined) return ''
  const said = textsOf(first.message['content']).join(' ').replaceAll(/\s+/g, ' ').slice(0, SAID_CHARACTERS)
  const command = callsOf(first.message).map(({ name, argumentsText }) => {
    const given = textOf(parseObject(argumentsText)?.['command'])
    return given === '' ? `${name} ${argumentsText}` : given
  })
  return `${said} → ${command.join('; ').slice(0, COMMAND_CHARACTERS)}`
}
