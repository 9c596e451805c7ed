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
import { filesIn, readFolderCommand, refuse, runCommand, say, text, whole, yes } from '../harness/command.ts'
import { lastTokens, longestOf } from '../harness/subject.ts'
import { grouped } from '../harness/table.ts'
import { figuresOf, tableOf, type Figures } from './figures.ts'
import { observeRun, RESERVE_TOKENS, type Way } from './observe-run.ts'
import { observeOwnModel, ownModelTable } from './own-model.ts'

const RATIO_MAX = 1.5
const WAYS: readonly Way[] = ['no compaction', 'truncate', 'summarize']

const flags = {
  file: text(),
  window: whole(16_000, 2 * RESERVE_TOKENS),
  delay: whole(),
  pace: whole(),
  pause: whole(),
  json: yes,
  'own-model': yes,
}

await runCommand(measure)

async function measure(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const { folder, values } = readFolderCommand(args, flags, 'npm run summaries -- FOLDER')
  const { file, window: windowTokens, delay, pace, pause, json } = values
  if (pace !== null && pause !== null)
    refuse('Either --pace, whether summaries are there or not, or --pause once they are.')
  const pacing = { delayMs: delay ?? 0, pauseMs: pace ?? pause ?? 0, waitsForSummaries: pace === null }
  filesIn(folder, file === null ? null : [file])
  const { count } = await loadCounter('o200k_base')
  if (values['own-model']) {
    for (const [name, given] of Object.entries({ delay, pace, pause, json }))
      if (given !== null && given !== false) refuse(`--own-model has no use for --${name}.`)
    const subject = longestOf(folder, file, count)
    const [cached, transcripts] = [
      await observeOwnModel({ subject, windowTokens, statesUsage: true, count }),
      await observeOwnModel({ subject, windowTokens, statesUsage: false, count }),
    ]
    const columns = [
      { name: 'where cheaper', run: cached },
      { name: 'transcripts', run: transcripts },
    ]
    say(`${ownModelTable(columns)}\n${elapsed()}`)
    return true
  }
  const subject = longestOf(folder, file, count)
  const runs: { way: Way; figures: Figures }[] = []
  for (const way of WAYS)
    runs.push({ way, figures: figuresOf(await observeRun({ subject, way, windowTokens, pacing, count })) })

  const { recording } = subject
  const conversation = { file: recording.file, id: recording.id, promptTokens: lastTokens(subject) }
  if (json) {
    say(JSON.stringify({ conversation, windowTokens, pacing, runs, elapsed: elapsed() }, null, 2))
  } else {
    const tokens = grouped(conversation.promptTokens)
    const title = `${recording.file} ${recording.id}: ${tokens} tokens in a window of ${windowTokens}; a summary takes ${pacing.delayMs} ms`
    say(`${title}\n${tableOf(runs.map(({ way, figures }) => ({ name: way, run: figures })))}\n\n${elapsed()}`)
  }
  return runs.every(({ figures }) => isSound(figures))
}

function isSound({ refused, errors, ratioOfCompactions }: Figures): boolean {
  return refused + errors === 0 && (ratioOfCompactions ?? 0) <= RATIO_MAX
}
