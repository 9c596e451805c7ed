import { parseArgs } from 'node:util'
import { wholeNumberProblem } from '../../support/recordings-command.ts'
import type { RulesOrder } from './run-order.ts'
import { halves, type Half } from './phrasing.ts'
import { strategies, type Strategy } from './walk-chat.ts'

/** What the command line asks for. */
export type RulesOptions = {
  readonly sizes: readonly Size[]
  readonly strategies: readonly Strategy[]
  readonly halves: readonly Half[]
  readonly seed: number
  readonly workers: number
  readonly json: boolean
  /** So many views are printed. */
  readonly shown: number
}

/** A window, how long the chats in it are, and how many of them there are for each half. */
export type Size = {
  readonly windowTokens: number
  readonly chatTokens: number
  readonly chats: number
}

/** Reads the arguments; a text that says what is wrong where they leave nothing to measure. */
export function readOptions(args: readonly string[]): RulesOptions | string {
  let values
  try {
    values = parseArgs({ args: [...args], options }).values
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  for (const name of ['window', 'chat-tokens', 'seed', 'chats', 'workers', 'show'] as const) {
    const problem = wholeNumberProblem(name, values[name])
    if (problem !== null) return problem
  }
  const { window, 'chat-tokens': chatTokens, chats, strategy, half } = values
  if (window !== undefined && Number(window) < WINDOW_LEAST) return `--window takes ${WINDOW_LEAST} and more.`
  if (window === undefined && chatTokens !== undefined)
    return '--chat-tokens is the length of chats in one --window; name that, too.'
  const chosenStrategies = strategies.filter((each) => strategy === undefined || each === strategy)
  if (chosenStrategies.length === 0) return `--strategy takes ${strategies.join(' or ')}.`
  const chosenHalves = halves.filter((each) => half === 'both' || each === half)
  if (chosenHalves.length === 0) return `--half takes ${halves.join(', ')} or both.`

  const usual = sizes.filter(({ windowTokens }) => window === undefined || windowTokens === Number(window))
  const measured = usual.length > 0 ? usual : [sizeOf(Number(window))]
  return {
    sizes: measured.map((size) => ({
      ...size,
      ...(chatTokens !== undefined && { chatTokens: Number(chatTokens) }),
      ...(chats !== undefined && { chats: Number(chats) }),
    })),
    strategies: chosenStrategies,
    halves: chosenHalves,
    seed: Number(values.seed),
    workers: Number(values.workers),
    json: values.json,
    shown: Number(values.show ?? 0),
  }
}

/** The work that is asked for, the longest chats first, so that no worker is left alone with one in the end. */
export function ordersOf(asked: RulesOptions): readonly RulesOrder[] {
  return asked.sizes
    .toSorted((one, other) => other.chatTokens - one.chatTokens)
    .flatMap(({ windowTokens, chatTokens, chats }) =>
      Array.from({ length: chats }, (_, number) => number).flatMap((number) =>
        asked.halves.flatMap((half) =>
          asked.strategies.toReversed().map((strategy) => ({
            chat: { half, number, seed: asked.seed, tokens: chatTokens },
            strategy,
            windowTokens,
          })),
        ),
      ),
    )
}

// --- internal ---

/** As many chats as take less than three minutes on two cores. */
const sizes: readonly Size[] = [
  { windowTokens: 8192, chatTokens: 24_000, chats: 24 },
  { windowTokens: 32_000, chatTokens: 90_000, chats: 6 },
]

/** Half of it is kept for the reply. */
const WINDOW_LEAST = 4096

function sizeOf(windowTokens: number): Size {
  return { windowTokens, chatTokens: 3 * windowTokens, chats: 12 }
}

const options = {
  window: { type: 'string' },
  'chat-tokens': { type: 'string' },
  strategy: { type: 'string' },
  seed: { type: 'string', default: '1' },
  chats: { type: 'string' },
  half: { type: 'string', default: 'both' },
  workers: { type: 'string', default: '4' },
  json: { type: 'boolean', default: false },
  show: { type: 'string' },
} as const
