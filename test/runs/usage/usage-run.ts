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
import { seconds } from '../replay/table.ts'
import { workersFor } from '../../support/workers.ts'
import { readOptions } from './options.ts'
import { runOrder } from './run-order.ts'
import { missLines, sumOf, tablesOf, warningLines } from './table.ts'

const { answerOrders, inWorkers } = workersFor(runOrder)

if (process.send !== undefined) {
  answerOrders()
} else {
  process.exitCode = await runAll()
}

async function runAll(): Promise<number> {
  const startedMs = performance.now()
  const options = readOptions(process.argv.slice(2))
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n`)
    return 1
  }
  const reports = await inWorkers(options.orders, options.workers)
  process.stdout.write(tablesOf(reports) + warningLines(reports) + missLines(reports))
  const misses = reports.flatMap(({ verdicts }) => verdicts).flatMap((verdict) => verdict.misses)
  const figures = [
    `${sumOf(reports, 'requests').toLocaleString('en-US')} requests`,
    `windows learnt ${sumOf(reports, 'windowsLearnt')}`,
    `cuts concluded ${sumOf(reports, 'cutsConcluded')}`,
    `${misses.length} promises missed`,
    seconds(performance.now() - startedMs),
  ]
  process.stdout.write(`\n${figures.join(', ')}\n`)
  return misses.length === 0 ? 0 : 1
}
