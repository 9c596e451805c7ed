/**
 * Whether what a user asked for early in a long chat still stands in what the model receives, in the user's words.
 *
 *   npm run rules [-- --window N [--chat-tokens N]] [--strategy truncate|summarize] [--half known|apart|both]
 *                 [--chats N] [--seed N] [--workers N] [--json] [--show N]
 *
 * Chats are made from templates: one to four rules in the first fifth (window 4,096: in the first seven tenths), in several languages, alone or inside longer messages,
 * and then other things. Every request of a chat is made through real sockets and a Foldgate with the default profile for this
 * window, with recaps and with summaries by the stand-in of `test/support/summary-model.ts`. At the last five it is asked whether
 * the sentence stands in the view that the strict upstream received, word for word but for case, blanks, the marks around it and
 * JSON's escapes; of a corrected rule the newest wording, and the old one nowhere after it. `what they refer to` is printed
 * beside and asked of nobody: the option that "the second one" means, the proposal, the question.
 *
 * Half of the phrasings are kept apart from whoever writes the rules of recaps. `--show N` prints views of the known half, those
 * that lost most first; with `--half apart` it prints those, and who has seen them writes no such rules.
 *
 * Exits with 1 where a total is below 95 %, or a request was refused or failed.
 */
import { oneOf, readCommand, refuse, runCommand, whole, yes } from '../harness/command.ts'
import { grouped, sumOf } from '../harness/table.ts'
import { workersFor } from '../harness/workers.ts'
import { halves } from './phrasing.ts'
import { groupsOf, isEnough, shownViews, tableOf } from './tally.ts'
import { runOrder, strategies, type RulesOrder } from './walk-chat.ts'

const workers = workersFor(runOrder)

async function measure(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const options = readOptions(args)
  const reports = await workers.inWorkers(ordersOf(options), options.workers)
  const groups = groupsOf(reports)
  const [requests, failed, refused] = (['requests', 'failed', 'refused'] as const).map((figure) =>
    sumOf(reports, (report) => report[figure]),
  )
  if (options.json) {
    const { seed } = options
    const told = { seed, groups, requests, failed, refused, elapsed: elapsed() }
    process.stdout.write(`${JSON.stringify(told, null, 2)}\n`)
  } else {
    process.stdout.write(shownViews(reports, options.shown))
    for (const group of groups) process.stdout.write(tableOf(group))
    process.stdout.write(
      `\n${grouped(requests ?? 0)} requests, ${failed} failed, ${refused} refused; ${elapsed()}\n`,
    )
  }
  return (
    groups.every((group) => group.halves.every(({ tally }) => isEnough(tally.total))) &&
    failed === 0 &&
    refused === 0
  )
}

/** A window, how long the chats in it are, and how many of them there are for each half. */
type Size = {
  readonly windowTokens: number
  readonly chatTokens: number
  readonly chats: number
  readonly ruledUntil: number
}

function readOptions(args: readonly string[]) {
  const { values } = readCommand(args, flags)
  const { window, chats, strategy, half, 'chat-tokens': chatTokens } = values
  if (window === null && chatTokens !== null)
    refuse('--chat-tokens is the length of chats in one --window; name that, too.')
  const usual = sizes.filter(({ windowTokens }) => window === null || windowTokens === window)
  // As many chats as take less than three minutes on two cores.
  const own =
    window === null ? [] : [{ windowTokens: window, chatTokens: 3 * window, chats: 12, ruledUntil: 0.2 }]
  return {
    sizes: (usual.length > 0 ? usual : own).map((size): Size => ({
      ...size,
      ...(chatTokens !== null && { chatTokens }),
      ...(chats !== null && { chats }),
    })),
    strategies: strategies.filter((each) => strategy === null || each === strategy),
    halves: halves.filter((each) => half === 'both' || each === half),
    seed: values.seed,
    workers: values.workers,
    json: values.json,
    shown: values.show ?? 0,
  }
}

/** The work that is asked for, the longest chats first, so that no worker is left alone with one in the end. */
const ordersOf = (asked: ReturnType<typeof readOptions>): readonly RulesOrder[] =>
  asked.sizes
    .toSorted((one, other) => other.chatTokens - one.chatTokens)
    .flatMap(({ windowTokens, chatTokens, chats, ruledUntil }) =>
      Array.from({ length: chats }, (_, number) => number).flatMap((number) =>
        asked.halves.flatMap((half) =>
          asked.strategies.toReversed().map((strategy) => ({
            chat: { half, number, seed: asked.seed, tokens: chatTokens, ruledUntil },
            strategy,
            windowTokens,
          })),
        ),
      ),
    )

/** Half of it is kept for the reply. */
const WINDOW_LEAST = 4096

/** In the smallest window rules are said until late. */
const sizes: readonly Size[] = [
  { windowTokens: 4096, chatTokens: 24_000, chats: 16, ruledUntil: 0.7 },
  { windowTokens: 8192, chatTokens: 24_000, chats: 24, ruledUntil: 0.2 },
  { windowTokens: 32_000, chatTokens: 90_000, chats: 6, ruledUntil: 0.2 },
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

await runCommand(measure, workers)
