/**
 * Whether what a user asked for early in a long chat still stands in what the model receives, in the user's words.
 *
 *   npm run rules [-- --window N [--chat-tokens N]] [--strategy truncate|summarize] [--half known|apart|both]
 *                 [--chats N] [--seed N] [--workers N] [--json] [--show N]
 *
 * Chats are made from templates: one to four rules in the first fifth (said, chosen from a list, agreed to, corrected,
 * given as an answer; in several languages; alone or inside longer messages), and then other things. Every request of
 * a chat is made, one after the other, through real sockets and a Foldgate with the default profile for this window,
 * with recaps and with summaries by the stand-in of `test/support/summary-model.ts`, which knows nothing of rules. At
 * the last five requests it is asked whether the sentence stands in the view that the strict upstream received, word for
 * word but for case, blanks, the marks around it and JSON's escapes. Where a rule was corrected the newest wording has
 * to stand, and the old one nowhere after it. `what they refer to` is printed beside and asked of nobody: the option
 * that "the second one" means, the proposal, the question.
 *
 * Half of the phrasings are kept apart from whoever writes the rules of recaps. `--show N` prints views of the known
 * half, those that lost most first; with `--half apart` it prints those, and who has seen them writes no such rules.
 *
 * Exits with 1 where a total is below 95 %, or a request was refused or failed.
 */
import { runCommand } from '../harness/command.ts'
import { count, sumOf } from '../harness/table.ts'
import { workersFor } from '../harness/workers.ts'
import { ordersOf, readOptions } from './options.ts'
import { groupsOf, isEnough, shownViews, tableOf } from './tally.ts'
import { runOrder } from './walk-chat.ts'

const workers = workersFor(runOrder)

await runCommand(measure, workers)

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
      `\n${count(requests ?? 0)} requests, ${failed} failed, ${refused} refused; ${elapsed()}\n`,
    )
  }
  return (
    groups.every(({ halves }) => halves.every(({ tally }) => isEnough(tally.total))) &&
    failed === 0 &&
    refused === 0
  )
}
