/**
 * Whether anything false is believed of a model whose server reports honestly, in each of the ways that there are.
 *
 *   npm run usage [-- FOLDER [--file NAME]] [--window N] [--kind NAME] [--sample N] [--conversations N] [--workers N]
 *
 * FOLDER holds recorded conversations as `npm run replay` takes them; nothing of it is copied. Without it a few are made,
 * for a short run. Each is walked request by request, plain and streamed, through sockets and a Foldgate that knows nothing
 * yet, before a server that counts and reports by one of the kinds in `usage-kinds.ts`, or cuts as Ollama does:
 *
 *   set    the window stands in the settings, and the server takes anything: whatever is learnt is false
 *   auto   the server refuses what is beyond its window, in OpenAI's words: nothing else may be learnt
 *   ollama the server leaves out the oldest messages: with `auto` three requests may come out cut before `num_ctx` is in
 *          force; where the settings name more, the window stays and a warning is printed; where a gateway hides what
 *          it is, nothing is concluded
 *
 * For a kind, a window and a mode there are so many `--conversations`, other files and others of a file for the next, and of
 * each so many requests as `--sample` says. Short conversations of a file are walked joined to a long one as well. Clients
 * call the model by names that tell its tokenizer and by names that tell nothing.
 *
 * Prints a row a kind and window, the warnings, and what was not kept; exits with 1 where there is such a thing.
 * `folded early`, `refused` and `count off by` show what counts are worth, and are asked of nobody.
 */
import { filesIn, oneOf, readCommand, refuse, runCommand, text, whole } from '../harness/command.ts'
import { count } from '../harness/table.ts'
import { workersFor } from '../harness/workers.ts'
import { kindNames, ordersOf, runOrder, sizesOfField, sizesOfShortRun } from './orders.ts'
import { missLines, sumOfAll, tablesOf, warningLines } from './table.ts'

const workers = workersFor(runOrder)

const flags = {
  file: text(),
  window: whole(),
  kind: oneOf(kindNames()),
  sample: whole(12),
  conversations: whole(8),
  workers: whole(2),
}

await runCommand(runAll, workers)

async function runAll(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const { folder, values } = readCommand(args, flags)
  const { file, kind, window: windowTokens, sample: requestsMax, conversations: talksMax } = values
  if (folder === null && file !== null) refuse('--file names a file of FOLDER; name that, too.')
  if (folder !== null) filesIn(folder, file === null ? null : [file])
  const sizes = folder === null ? sizesOfShortRun : sizesOfField
  const sampling = { requestsMax, talksMax }
  const orders = ordersOf(sizes, { kind, windowTokens }, { source: { folder, file }, sampling })
  const windows = [...sizes.windows, ...sizes.numContexts].join(', ')
  if (orders.length === 0) refuse(`Nothing has the window ${windowTokens}; there are ${windows}.`)

  const reports = await workers.inWorkers(orders, values.workers)
  process.stdout.write(tablesOf(reports) + warningLines(reports) + missLines(reports))
  const misses = reports.flatMap(({ verdicts }) => verdicts).flatMap((verdict) => verdict.misses)
  const figures = [
    `${count(sumOfAll(reports, 'requests'))} requests`,
    `windows learnt ${sumOfAll(reports, 'windowsLearnt')}`,
    `cuts concluded ${sumOfAll(reports, 'cutsConcluded')}`,
    `${misses.length} promises missed`,
    elapsed(),
  ]
  process.stdout.write(`\n${figures.join(', ')}\n`)
  return misses.length === 0
}
