/**
 * Other gateways beside Foldgate: the same recorded conversations through each, to the same strict upstream.
 *
 *   npm run peers -- FOLDER [--file NAME]… [--requests 300] [--window 16000] [--gateway NAME]…
 *
 * FOLDER holds JSON lines, a conversation a line with `id`, `messages` and perhaps `tools`. Without `--file` the files
 * `coding-long` and `coding-parallel` are read. A conversation of each file in turn, up to fifty requests of each from
 * its beginning, growing as recorded, one after the other; none that breaks a rule by itself. The upstream has a window
 * of `--window` tokens, of which each request asks for 1,000 as its reply; it refuses what is longer, and calls without
 * results or results without calls, in OpenAI's words. A gateway that is to be told its window is told.
 *
 * What is needed is installed on demand: Python packages by the pinned lists in `python/` into the user's cache folder,
 * Portkey by that of `bench/`. What cannot be had, or does not start, is said below the table.
 *
 * - `answered`: requests to which the client got the upstream's answer; `overflows`: those at which it got the refusal
 *   of a prompt that was too long; `broken`: requests that the upstream refused for the order of calls and results;
 *   `other`: anything else that the client got, with the first of them below the table.
 * - `recall`, `far`: as in `npm run fidelity`, of all requests. An unanswered request holds nothing. `recall where
 *   answered` leaves those out: it flatters who answers only while the conversation is short.
 * - `prompt tokens`: of the answers, in thousands; `own`: of prompts that a gateway sent by itself, for summaries. A
 *   program answers those, which picks out names and phrases.
 * - `cached`: the share of prompt tokens that an exact-prefix cache by OpenAI's rules had already.
 * - `CPU ms`: processor time of the gateway and what it started, a request; `–` where there is no /proc.
 *
 * Exits with 1 if a request of Foldgate's was not answered.
 */
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { everything, headAndSuffix, type Policy } from '../fidelity/policies.ts'
import { figuresOf } from '../fidelity/figures.ts'
import type { Room } from '../fidelity/senders.ts'
import { filesIn, readFolderCommand, refuse, runCommand, say, texts, whole } from '../harness/command.ts'
import { readRecordings } from '../harness/recordings.ts'
import { grouped } from '../harness/table.ts'
import { endAllWithThis } from '../servers/programs.ts'
import {
  foldgate,
  nothingBetween,
  peers,
  unmeasured,
  type Gateway,
  type Missing,
  type Running,
} from './gateways.ts'
import { planWalks } from './plan.ts'
import { treeCpuMs } from './process-tree.ts'
import { openUpstream, reaches, walkAll, type Outcome, type Upstream } from './walk.ts'

type Subject = { readonly gateway: Gateway; readonly policy: Policy }

const between = (name: string, settings: string): Gateway => ({
  name,
  version: '',
  settings,
  isOurs: false,
  open: nothingBetween,
})

const subjects: readonly Subject[] = [
  { gateway: between('nothing between', 'the client sends everything'), policy: everything },
  {
    gateway: between(
      'a sliding window in the client',
      'system message, task and the newest rounds that fit, by the upstream’s own count',
    ),
    policy: headAndSuffix,
  },
  ...[foldgate(false), foldgate(true), ...peers].map((gateway) => ({ gateway, policy: everything })),
]

type Row = { readonly gateway: Gateway; readonly outcome: Outcome; readonly cpuMs: number | null }

async function measure(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const flags = { file: texts, requests: whole(300), window: whole(16_000, 2_000), gateway: texts }
  const { folder, values } = readFolderCommand(args, flags, 'npm run peers -- FOLDER')
  const files = filesIn(folder, values.file ?? ['coding-long', 'coding-parallel'])
  const walks = planWalks(
    files.map((file) => readRecordings(folder, file)),
    values.requests,
  )
  if (walks.length === 0) refuse('The recordings hold no request that obeys the rules.')
  const asked = subjects.filter(({ gateway }) => values.gateway?.includes(gateway.name) ?? true)
  if (asked.length === 0)
    refuse(`There is no such gateway; there are ${subjects.map(({ gateway }) => gateway.name).join(', ')}.`)

  const { count } = await loadCounter('o200k_base')
  const room = { windowTokens: values.window, reserveTokens: 1_000 }
  const rows: Row[] = []
  const missing: string[] = []
  for (const { gateway, policy } of asked) {
    const upstream = await openUpstream(room, count)
    const running = await openThrough(gateway, upstream, room)
    if ('missing' in running) missing.push(`${nameOf(gateway)}: ${running.missing}`)
    else {
      const { url, headers, pid } = running
      const beganMs = pid === null ? null : treeCpuMs(pid)
      const outcome = await walkAll(walks, { url, headers, upstream, room, count, policy })
      const endedMs = pid === null ? null : treeCpuMs(pid)
      await running.stop()
      rows.push({ gateway, outcome, cpuMs: beganMs === null || endedMs === null ? null : endedMs - beganMs })
      process.stderr.write(`${gateway.name}: ${outcome.answered} of ${outcome.requests} (${elapsed()})\n`)
    }
    await upstream.close()
  }
  say(tableOf(rows, `${walks.length} conversations, window ${grouped(room.windowTokens)}`))
  const { things = 0, farThings = 0 } = rows[0]?.outcome.tally ?? {}
  say(
    `\nThe next messages name ${grouped(things)} things that the history holds, ${grouped(farThings)} of them far.`,
  )
  say(notesOf(rows, missing))
  say(`\n${elapsed()}`)
  return rows.every(({ gateway, outcome }) => !gateway.isOurs || outcome.answered === outcome.requests)
}

/** A gateway that takes long to start may find its port taken by then: it is started once more. */
async function openThrough(gateway: Gateway, upstream: Upstream, room: Room): Promise<Running | Missing> {
  for (let tries = 0; tries < STARTS_MAX; tries += 1) {
    const running = await gateway.open(new URL(upstream.url).origin, room)
    if ('missing' in running || (await reaches(running, upstream))) return running
    await running.stop()
  }
  return { missing: 'it started, and no request came through to the upstream' }
}

const STARTS_MAX = 2

const columns: readonly (readonly [head: string, cell: (row: Row) => string])[] = [
  ['answered', ({ outcome }) => grouped(outcome.answered)],
  ['overflows', ({ outcome }) => grouped(outcome.overflows)],
  ['broken', ({ outcome }) => grouped(outcome.broken)],
  ['other', ({ outcome }) => grouped(outcome.others)],
  ['recall', ({ outcome }) => figuresOf(outcome.tally).recall.toFixed(1)],
  ['far', ({ outcome }) => figuresOf(outcome.tally).far.toFixed(1)],
  [
    'recall where answered',
    ({ outcome }) => (outcome.answered === 0 ? '–' : figuresOf(outcome.answeredTally).recall.toFixed(1)),
  ],
  ['prompt tokens', ({ outcome }) => thousands(outcome.tally.promptTokens)],
  ['own', ({ outcome }) => thousands(outcome.ownTokens)],
  ['cached', ({ outcome }) => (outcome.answered === 0 ? '–' : figuresOf(outcome.tally).cacheHits.toFixed(1))],
  ['CPU ms', ({ outcome, cpuMs }) => (cpuMs === null ? '–' : (cpuMs / outcome.requests).toFixed(1))],
]

/** As Markdown, a row for each gateway. */
function tableOf(rows: readonly Row[], title: string): string {
  const requests = rows[0]?.outcome.requests ?? 0
  const head = `${grouped(requests)} requests of ${title}`
  const lines = rows.map((row) => [nameOf(row.gateway), ...columns.map(([, cell]) => cell(row))])
  const ruled = [[head, ...columns.map(([name]) => name)], ['---', ...columns.map(() => '---:')], ...lines]
  return ruled.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** How each was set, what went wrong first, and what is not in the table. */
function notesOf(rows: readonly Row[], missing: readonly string[]): string {
  const settings = rows.map(({ gateway }) => `- ${nameOf(gateway)}: ${gateway.settings}.`)
  const failures = rows.flatMap(({ gateway, outcome: { firstFailure } }) =>
    firstFailure === null ? [] : [`- ${nameOf(gateway)}: ${firstFailure}`],
  )
  return [
    ...part('Settings:', settings),
    ...part('The first answer under "other":', failures),
    ...part(
      'Not measured:',
      [...missing, ...unmeasured].map((line) => `- ${line}`),
    ),
  ].join('\n')
}

const part = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`\n${title}\n\n${lines.join('\n')}`]

/** The version stands behind the program's name, before how it is set. */
function nameOf({ name, version }: Gateway): string {
  const [program = name, ...how] = name.split(', ')
  return [version === '' ? program : `${program} ${version}`, ...how].join(', ')
}

const thousands = (tokens: number): string => grouped(tokens / 1000)

endAllWithThis()
await runCommand(measure)
