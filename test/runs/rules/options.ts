import { oneOf, readCommand, refuse, whole, yes } from '../harness/command.ts'
import { halves } from './phrasing.ts'
import { strategies, type RulesOrder } from './walk-chat.ts'

/** A window, how long the chats in it are, and how many of them there are for each half. */
type Size = {
  readonly windowTokens: number
  readonly chatTokens: number
  readonly chats: number
}

/** Reads the arguments: what is to be measured, and nothing that leaves nothing to measure. */
export function readOptions(args: readonly string[]) {
  const { values } = readCommand(args, flags)
  const { window, chats, strategy, half, seed, workers, json, 'chat-tokens': chatTokens } = values
  if (window === null && chatTokens !== null)
    refuse('--chat-tokens is the length of chats in one --window; name that, too.')
  const usual = sizes.filter(({ windowTokens }) => window === null || windowTokens === window)
  // As many chats as take less than three minutes on two cores.
  const own = window === null ? [] : [{ windowTokens: window, chatTokens: 3 * window, chats: 12 }]
  return {
    sizes: (usual.length > 0 ? usual : own).map((size): Size => ({
      ...size,
      ...(chatTokens !== null && { chatTokens }),
      ...(chats !== null && { chats }),
    })),
    strategies: strategies.filter((each) => strategy === null || each === strategy),
    halves: halves.filter((each) => half === 'both' || each === half),
    seed,
    workers,
    json,
    /** So many views are printed. */
    shown: values.show ?? 0,
  }
}

/** The work that is asked for, the longest chats first, so that no worker is left alone with one in the end. */
export function ordersOf(asked: ReturnType<typeof readOptions>): readonly RulesOrder[] {
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

/** Half of it is kept for the reply. */
const WINDOW_LEAST = 4096

const sizes: readonly Size[] = [
  { windowTokens: 8192, chatTokens: 24_000, chats: 24 },
  { windowTokens: 32_000, chatTokens: 90_000, chats: 6 },
]

const flags = {
  window: whole(null, WINDOW_LEAST),
  'chat-tokens': whole(),
  strategy: oneOf(strategies),
  seed: whole(1),
  chats: whole(),
  half: oneOf([...halves, 'both'], 'both'),
  workers: whole(4),
  json: yes,
  show: whole(),
}
