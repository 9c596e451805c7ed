/**
 * Whether all that Foldgate tells of requests is true, and the same everywhere.
 *
 *   node test/runs/activity/activity.ts FOLDER [--file NAME] [--window N] [--store memory:|sqlite:PATH]
 *
 * Takes the conversation with the most prompt tokens of FOLDER, which holds JSON lines (or of one file of it), and makes
 * its requests one after the other, every third streamed, through real sockets and a Foldgate with an admin listener,
 * against the strict upstream, which counts each prompt and what its prompt cache would have served. Then it reads
 * metrics, events, conversations and the answers' headers and compares each figure with the upstream's, and with the
 * others. What was never sent (the whole conversation) is judged by a second upstream that gets the client's own bodies.
 *
 * Where `upstream` and the others differ and still agree, the figure is Foldgate's own count, and near. Exits with 1 where
 * something disagrees.
 */
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { openBareStore } from '../../../src/stores/open-store.ts'
import { seconds } from '../replay/table.ts'
import { lastTokens, longestOf } from '../summaries/longest.ts'
import { agreementOf } from './agreement.ts'
import { readOptions } from './options.ts'
import { tableOf } from './table.ts'

process.exitCode = await compare()

async function compare(): Promise<number> {
  const startedMs = performance.now()
  const options = readOptions(process.argv.slice(2))
  if (typeof options === 'string') return refuse(options)
  const { folder, file, windowTokens, storePath } = options
  const { count } = await loadCounter('o200k_base')
  const subject = longestOf(folder, file, count)
  if (subject === null) return refuse('The recordings hold no request to make.')
  const { recording } = subject
  const tokens = lastTokens(subject).toLocaleString('en-US')
  process.stdout.write(`${recording.file} ${recording.id}: ${tokens} tokens in a window of ${windowTokens}\n`)
  const store = await openBareStore(
    storePath === null ? { kind: 'memory' } : { kind: 'sqlite', path: storePath },
    { ttl_days: 7, max_mb: 512 },
  )
  const figures = await agreementOf({ subject, windowTokens, store, count })
  process.stdout.write(`${tableOf(figures)}\n${seconds(performance.now() - startedMs)}\n`)
  return figures.every(({ agrees }) => agrees) ? 0 : 1
}

function refuse(reason: string): number {
  process.stderr.write(`${reason}\n`)
  return 1
}
