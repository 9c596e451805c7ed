/**
 * What summaries cost over one long conversation, and whether anybody waits for them.
 *
 *   node test/runs/summaries/summary-run.ts FOLDER [--file NAME] [--window N] [--delay MS] [--pace MS | --pause MS] [--json]
 *   node test/runs/summaries/summary-run.ts FOLDER --own-model [--file NAME] [--window N]
 *
 * Takes the conversation with the most prompt tokens of FOLDER, which holds JSON lines (or of one file of it), and
 * makes its requests one after the other, through real sockets and a Foldgate, against the strict upstream with its
 * prompt cache: without compaction in an endless window, with recaps (`truncate`), and with summaries (`summarize`) by
 * a stand-in that takes `--delay` for each. With it, the next request comes once nothing is asked of the stand-in any
 * more, `--pause` later, as after a tool that ran; with `--pace` it comes so long after the answer, whether summaries
 * are there or not. 4,000 tokens of the window are kept for the reply.
 *
 * With `--own-model` the upstream writes the summaries itself, and the table shows what they read: asked for at the end
 * of the conversation itself where that is cheaper, and with transcripts only, as where nothing is known of a cache.
 *
 * A request has waited, at most, if a summary call ended while it was on its way to the upstream. Latencies are the client's,
 * the upstream's counting included. Exits with 1 if a request was refused or failed, or if more than 1.5 times the
 * expired tokens were sent to the summary model.
 */
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { seconds } from '../replay/table.ts'
import { figuresOf, type Figures } from './figures.ts'
import { lastTokens, longestOf } from './longest.ts'
import { observeRun, type Way } from './observe-run.ts'
import { observeOwnModel, ownModelTable } from './own-model.ts'
import { readOptions } from './options.ts'
import { tableOf } from './table.ts'

const RATIO_MAX = 1.5
const WAYS: readonly Way[] = ['no compaction', 'truncate', 'summarize']

process.exitCode = await measure()

async function measure(): Promise<number> {
  const startedMs = performance.now()
  const options = readOptions(process.argv.slice(2))
  if (typeof options === 'string') return refuse(options)
  const { folder, file, windowTokens, pacing, json, ownModel } = options
  const { count } = await loadCounter('o200k_base')
  const subject = longestOf(folder, file, count)
  if (subject === null) return refuse('The recordings hold no request to measure.')
  if (ownModel) {
    const cached = await observeOwnModel({ subject, windowTokens, statesUsage: true, count })
    const transcripts = await observeOwnModel({ subject, windowTokens, statesUsage: false, count })
    const columns = [
      { name: 'where cheaper', run: cached },
      { name: 'transcripts', run: transcripts },
    ]
    process.stdout.write(`${ownModelTable(columns)}\n${seconds(performance.now() - startedMs)}\n`)
    return 0
  }
  const runs: { way: Way; figures: Figures }[] = []
  for (const way of WAYS)
    runs.push({ way, figures: figuresOf(await observeRun({ subject, way, windowTokens, pacing, count })) })

  const { recording } = subject
  const conversation = { file: recording.file, id: recording.id, promptTokens: lastTokens(subject) }
  const elapsed = seconds(performance.now() - startedMs)
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ conversation, windowTokens, pacing, runs, elapsed }, null, 2)}\n`,
    )
  } else {
    const tokens = conversation.promptTokens.toLocaleString('en-US')
    const title = `${recording.file} ${recording.id}: ${tokens} tokens in a window of ${windowTokens}; a summary takes ${pacing.delayMs} ms`
    process.stdout.write(`${tableOf(title, runs)}\n${elapsed}\n`)
  }
  return runs.every(({ figures }) => isSound(figures)) ? 0 : 1
}

function isSound({ refused, errors, ratioOfCompactions }: Figures): boolean {
  return refused + errors === 0 && (ratioOfCompactions ?? 0) <= RATIO_MAX
}

function refuse(reason: string): number {
  process.stderr.write(`${reason}\n`)
  return 1
}
