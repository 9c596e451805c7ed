/**
 * What a smaller view still holds of recorded conversations, and what it costs: Foldgate beside clients that compact
 * by themselves.
 *
 *   node test/fidelity/fidelity.ts FOLDER [--file NAME]… [--window N] [--profile FILE.yaml]… [--workers N] [--json]
 *
 * FOLDER holds JSON lines, a conversation a line with `id`, `messages` and perhaps `tools`; without `--file` the
 * files `coding-long` and `coding-parallel` are read. Every assistant message was once the answer to a request with
 * all messages before it: each of these requests is made again, one after the other, through real sockets and a
 * Foldgate, and what the upstream received is measured. 4,000 tokens of the window are kept for the reply.
 *
 * `recall`: of the specific things that the true next message names and the full history holds, the share that
 * the view still holds; `far`: the same, of those that the newest suffix has lost; `verbatim`: of the six-word
 * runs that the next message shares with the history, the share that still stands there; `cache hits`: by OpenAI's
 * rules; `weighted`: prompt tokens a request, cached ones at a tenth; `beyond`: requests that leave the reply less
 * than its reserve; `summary tokens`: what a summary model read for each of the main requests, at its own price and no
 * part of `weighted`. That model is a stand-in: a program which picks out things and phrases
 * (`test/support/extractive-summary.ts`), so that its row shows what is done with summaries, not how good a model's
 * are. Exits with 1 if a request of Foldgate's was refused, failed, or arrived more broken than it was.
 */
import { readRecordings } from '../replay/recordings.ts'
import { seconds } from '../replay/table.ts'
import { readOptions } from './options.ts'
import { withWindow } from './profiles.ts'
import { rowsOf } from './rows.ts'
import type { Order } from './run-order.ts'
import { figuresOf, summariesNote, tableOf } from './table.ts'
import { isSound, sumOf } from './tally.ts'
import { answerOrders, inWorkers } from './workers.ts'

if (process.send !== undefined) {
  answerOrders()
} else {
  process.exitCode = await measure()
}

async function measure(): Promise<number> {
  const startedMs = performance.now()
  const options = readOptions(process.argv.slice(2))
  if (typeof options === 'string') return refuse(options)
  const { folder, files, room, profiles, workers, json } = options
  const rows = rowsOf(profiles).map((row) =>
    row.kind === 'policy' ? row : { ...row, profile: withWindow(row.profile, room.windowTokens) },
  )
  const conversations = files.flatMap((file) =>
    readRecordings(folder, file).map(({ points }, place) => ({ file, place, requests: points.length })),
  )
  // The longest first, so that no worker is left alone with one in the end.
  const orders: readonly Order[] = conversations
    .toSorted((one, other) => other.requests - one.requests)
    .flatMap(({ file, place }) => rows.map((row) => ({ folder, file, place, row, room })))
  const reports = await inWorkers(orders, workers)

  const tableFor = (names: readonly string[]) =>
    rows.map((row) => {
      const own = reports.filter(({ order }) => order.row.name === row.name && names.includes(order.file))
      return { name: row.name, tally: sumOf(own.map(({ tally }) => tally)) }
    })
  const groups = files.length === 1 ? [files] : [...files.map((file) => [file]), files]
  const tables = groups.map((names) => ({ files: names, rows: tableFor(names) }))
  const requests = conversations.reduce((sum, each) => sum + each.requests, 0)
  if (requests === 0) return refuse('The recordings hold no request to measure.')

  const elapsed = seconds(performance.now() - startedMs)
  if (json) {
    const withFigures = tables.map((table) => ({
      ...table,
      rows: table.rows.map(({ name, tally }) => ({ name, ...figuresOf(tally), tally })),
    }))
    process.stdout.write(`${JSON.stringify({ room, tables: withFigures, elapsed }, null, 2)}\n`)
  } else {
    for (const { files: names, rows: named } of tables) {
      const count = named[0]?.tally.requests.toLocaleString('en-US')
      process.stdout.write(
        tableOf(`${names.join(', ')}: window ${room.windowTokens}, ${count} requests`, named),
      )
    }
    process.stdout.write(`\n${summariesNote}\n${elapsed}\n`)
  }
  return reports.every(({ tally }) => isSound(tally)) ? 0 : 1
}

function refuse(reason: string): number {
  process.stderr.write(`${reason}\n`)
  return 1
}
