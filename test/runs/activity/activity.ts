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
import { existsSync } from 'node:fs'
import { openBareStore } from '../../../src/storage/open-store.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { filesIn, readFolderCommand, refuse, runCommand, say, text, whole } from '../harness/command.ts'
import { lastTokens, longestOf } from '../harness/subject.ts'
import { grouped } from '../harness/table.ts'
import { tableOf } from './figure.ts'
import { agreementOf } from './figures.ts'

// Below, system messages and tools of some recordings leave no room for a conversation.
const flags = { file: text(), window: whole(16_000, 4000), store: text('memory:') }

await runCommand(compare)

async function compare(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const { folder, values } = readFolderCommand(args, flags, 'npm run activity -- FOLDER')
  const { file, window: windowTokens } = values
  const [, scheme, path = ''] = /^(memory|sqlite):(.*)$/.exec(values.store) ?? []
  if (scheme === undefined || (scheme === 'sqlite') !== (path !== ''))
    refuse('--store takes memory: or sqlite:PATH.')
  if (scheme === 'sqlite' && existsSync(path))
    refuse(`--store takes the path of a file that is made: what is in ${path} would be counted, too.`)
  filesIn(folder, file === null ? null : [file])
  const { count } = await loadCounter('o200k_base')
  const subject = longestOf(folder, file, count)
  const { recording } = subject
  const tokens = grouped(lastTokens(subject))
  say(`${recording.file} ${recording.id}: ${tokens} tokens in a window of ${windowTokens}`)
  const location = scheme === 'sqlite' ? { kind: 'sqlite' as const, path } : { kind: 'memory' as const }
  const store = await openBareStore(location, { ttl_days: 7, max_mb: 512 })
  const figures = await agreementOf({ subject, windowTokens, store, count })
  say(`${tableOf(figures)}\n${elapsed()}`)
  return figures.every(({ agrees }) => agrees)
}
