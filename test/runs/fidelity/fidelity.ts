/**
 * What a smaller view still holds of recorded conversations, whether an agent could go on from it, and what it costs:
 * Foldgate beside clients that compact by themselves.
 *
 *   node test/runs/fidelity/fidelity.ts FOLDER [--file NAME]… [--all] [--window N] [--upstream-ratio R]
 *     [--profile FILE.yaml]… [--target SHARE]… [--without PART]… [--row NAME]… [--views N [--seed S]] [--workers N] [--json]
 *     [--dialect responses|messages [--reasoning N]] [--dialect ollama]
 *
 * `--target 0.6` adds a row that compacts down to that share, `--without names` one whose recaps do not tell that part.
 *
 * FOLDER holds JSON lines, a conversation a line with `id`, `messages` and perhaps `tools`, or a single `request`.
 * Without `--file` the files `coding-long` and `coding-parallel` are read, with `--all` every one. Every assistant
 * message was once the answer to a request with all messages before it: each of these requests is made again, one after
 * the other, through real sockets and a Foldgate, and what the upstream received is measured. 4,000 tokens of the window,
 * or a quarter of one below 8,000, are kept for the reply. Nothing that Foldgate says of itself plays a part.
 *
 * All sizes are the upstream's count, which is the strict upstream's. *Budget* is the window less the reserve, *room*
 * what tools and leading system messages leave of it. A client's message *stands* in the view byte for byte, or changed:
 * with its role, with the ids of what it answers and calls, and in the client's order. Of a changed text that counts
 * which the original says: its head, its tail, and whole lines between them, be it cut by a clip or a preview. The
 * original is what the client sent or, where that is terminal output, what a terminal would show of it. A text without
 * ids is only known by at least sixteen characters of its own, and by no more than 300 of others. A user's text may
 * stand inside another user message, since some templates need them joined.
 *
 * What is there, the counts of requests first:
 *
 * - `newest absent`: the newest message of the request does not stand there with its share. For a user's, three
 *   quarters of the room; for another, its round (the newest assistant message and all that follows) whole where that
 *   takes at most half of the room, else the level at which the messages of the round, each cut down to it, come to half
 *   of the room; never more than its size. A tenth of the share or 16 tokens may be missing, whichever is more. Fewer
 *   than 8 tokens of a text are a bare mark, which is nothing; only messages below 64 tokens may be one, where they
 *   exceed their share. The others are whole or keep half of their text at least. Where there is no room, the share is 0.
 * - `same prompt`: the same received messages as for the request before, although the client's newest message differs.
 * - `task gone`: the first user message does not stand there with a quarter of the room, or whole; slack and marks as
 *   above.
 * - `actions`: of the newest ten assistant messages of each request, the percentage that still stand there as messages
 *   of their own, shortened or not.
 * - `observations`: of the newest three results (`tool` or `function`), the percentage that stand there whole, or with
 *   half of their text or 1,000 tokens of it.
 * - `recent`: percentage of the room that the newest messages as they were take: the unbroken run of the client's
 *   messages, from the newest backwards, that were received byte for byte and next to each other. Measured at each
 *   compaction: a request of which the prompt before is no beginning. `p10` is the tenth percentile, else the median.
 * - `recall`: of the specific things that the true next message names and the full history holds, the share that the
 *   view still holds; `far`: the same, of those that the newest suffix has lost; `verbatim`: of the six-word runs that
 *   the next message shares with the history, the share that still stands there.
 * - `quotes`: of the exact texts that the next message replaces (an edit's old text, a plain substitution of sed) and
 *   the history holds whole, the share that stands whole in the view.
 * - `own words`: of the tokens that assistant messages take, calls included, in requests that are not sent as they came,
 *   the share that stands byte for byte.
 * - `stale`: lines that recaps quote from results although a later edit has replaced them and nothing has shown them
 *   since.
 * - `fixed too large`: requests for whose messages there is no room, or whose newest message is a user's and exceeds it
 *   by itself. What becomes of them is the upstream's to decide, refusals and errors included; they count for no other
 *   column but `newest absent`, `same prompt`, `failed open` and `broken`.
 *
 * What it costs:
 *
 * - `cache hits`: by OpenAI's rules; `weighted`: prompt tokens a request, cached ones at a tenth; `tokens`: the same at
 *   full price; `compactions/100`: compactions in a hundred requests.
 * - `gap`: requests from one compaction of a conversation to its next. `fill`: the largest prompt since the compaction
 *   before (or the beginning), as a share of the budget, one for each compaction.
 * - `summary tokens`: what a summary model read for each of the main requests, at its own price and no part of
 *   `weighted`. That model is a stand-in: a program which picks out things and phrases
 *   (`test/support/extractive-summary.ts`), so that its row shows what is done with summaries, not how good a model's
 *   are.
 * - `beyond`: requests that leave the reply less than its reserve; `refused`: attempts that the upstream refused.
 *
 * Counts and percentages are of sums over all requests; percentiles are of all conversations' samples together.
 *
 * With `--upstream-ratio 1.25` the upstream counts 1.25 times the tokens that we count for each text: its window, its
 * usage and its cache go by that, and so do all figures here. (The few tokens around a message, and media, are the
 * same.) How an upstream counts is learnt from its first answer, so the first request of each conversation is made, but
 * left out of all figures except for what went wrong with it.
 *
 * With `--dialect responses` or `messages` the recordings are lived in that API, for Foldgate's rows without summaries: each
 * assistant message is a reply with reasoning of `--reasoning` tokens before it (default 40; 0: none), with ids and
 * encrypted content, or signatures, from the upstream. So that the table can stand beside that of chat completions, what
 * the upstream received is read as the chat that it was (the items or blocks of a reply are one message, reasoning is none)
 * and asked the same questions. In the Messages API the client sets marks for the cache as Claude Code does. The sizes of messages, the room and the newest suffix are counted as in a chat, too. Prompts are counted as
 * this upstream does, with all reasoning that it was sent: a call in items takes the same tokens, text beside calls a
 * frame of its own, reasoning what it takes. A compaction is a request of which the items before are no beginning.
 *
 * With `--dialect ollama` the recordings are written as a client of Ollama's own chat has them, which says the window in each
 * request; beside each row of Foldgate's stands the same in chat completions.
 *
 * `--views N` prints N views of Foldgate's rows whole, as a model would get them, drawn by `--seed` (default 1) from all
 * requests whose view is not what the client sent. They go to standard output and nowhere else. Read ten: could you go
 * on from this?
 *
 * Exits with 1 if a request of Foldgate's was refused (with another ratio: if the client saw it), failed, or arrived
 * more broken than it was, or if `newest absent`, `same prompt` or `task gone` of a row of Foldgate's is not 0.
 */
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { refuse, runCommand } from '../harness/command.ts'
import { ollamaRecording } from '../harness/ollama.ts'
import { readRecordings, type Recording } from '../harness/recordings.ts'
import { grouped } from '../harness/table.ts'
import { workersFor } from '../harness/workers.ts'
import { figuresOf, isSound, isWorkable, sumOf, summariesNote, tableOf, type Tally } from './figures.ts'
import { openLivedSender } from './lived-sender.ts'
import { policies, readOptions, withWindow, type Row } from './rows.ts'
import type { PolicyInput } from './policies.ts'
import { openFoldgateSender, openPolicyInput, openPolicySender, type Room, type Sender } from './senders.ts'
import { lowest, openViewSample, type PrintedView, type ViewsWanted } from './views.ts'
import { walkConversation } from './walk-conversation.ts'

const workers = workersFor(runOrder)

async function measure(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const options = readOptions(args)
  const { folder, files, room, rows, dialect, reasoningTokens, upstreamRatio, views } = options
  const conversations = files.flatMap((file) =>
    readRecordings(folder, file).map(({ points }, place) => ({ file, place, requests: points.length })),
  )
  if (conversations.every(({ requests }) => requests === 0))
    refuse('The recordings hold no request to measure.')
  const asked = { folder, room, reasoningTokens, upstreamRatio, views }
  // The longest first, so that no worker is left alone with one in the end.
  const orders: readonly Order[] = conversations
    .toSorted((one, other) => other.requests - one.requests)
    .flatMap(({ file, place }) => rows.map((row) => ({ ...asked, file, place, row })))
  const reports = await workers.inWorkers(orders, options.workers)

  const tableFor = (names: readonly string[]) =>
    rows.map((row) => {
      const own = reports.filter(({ order }) => order.row.name === row.name && names.includes(order.file))
      return { name: row.name, tally: sumOf(own.map(({ tally }) => tally)) }
    })
  const groups = files.length === 1 ? [files] : [...files.map((file) => [file]), files]
  const tables = groups.map((names) => ({ files: names, rows: tableFor(names) }))

  if (options.json) {
    const withFigures = tables.map((table) => ({
      ...table,
      rows: table.rows.map(({ name, tally }) => ({ name, ...figuresOf(tally), tally })),
    }))
    const told = { room, dialect, reasoningTokens, upstreamRatio, tables: withFigures, elapsed: elapsed() }
    process.stdout.write(`${JSON.stringify(told, null, 2)}\n`)
  } else {
    printViews(reports, views?.count ?? 0)
    const isChat = dialect === 'chat-completions'
    const thought = dialect === 'ollama' ? '' : `, ${reasoningTokens} tokens of reasoning before each reply`
    const how = [
      isChat ? '' : `, --dialect ${dialect}${thought}`,
      upstreamRatio === 1
        ? ''
        : `, without the first of each conversation; the upstream counts ${upstreamRatio} times what we do`,
    ].join('')
    for (const { files: names, rows: named } of tables) {
      const requests = grouped(named[0]?.tally.requests ?? 0)
      const title = `${names.join(', ')}: window ${room.windowTokens}, ${requests} requests${how}`
      process.stdout.write(tableOf(title, named))
    }
    process.stdout.write(`\n${isChat ? `${summariesNote}\n` : ''}${elapsed()}\n`)
  }
  return reports.every(isGood)
}

function printViews(reports: readonly OrderReport[], wanted: number): void {
  const drawn = lowest(
    reports.flatMap(({ views }) => views),
    wanted,
  )
  for (const [index, { text }] of drawn.entries())
    process.stdout.write(`\n=== view ${index + 1} of ${drawn.length}\n${text}\n`)
}

function isGood({ order, tally }: OrderReport): boolean {
  const areRefusalsAllowed = order.upstreamRatio !== 1
  return isSound(tally, areRefusalsAllowed) && (order.row.kind === 'policy' || isWorkable(tally))
}

/** One conversation in one row. */
type Order = {
  readonly folder: string
  readonly file: string
  /** Which conversation of the file. */
  readonly place: number
  readonly row: Row
  readonly room: Room
  /** How much the model thinks before each reply, where the API has its thoughts sent back. */
  readonly reasoningTokens: number
  /** How many times our count of a text the upstream's is. */
  readonly upstreamRatio: number
  /** Of Foldgate's rows; null for none. */
  readonly views: ViewsWanted | null
}

type OrderReport = {
  readonly order: Order
  readonly tally: Tally
  readonly views: readonly PrintedView[]
}

/** Does an order from the reading of its file to the sums. */
async function runOrder(order: Order): Promise<OrderReport> {
  const { folder, file, place, row, room, upstreamRatio } = order
  const recorded = recordingsOf(folder, file)[place]
  if (recorded === undefined) throw new Error(`${file} has no conversation ${place}`)
  const isOllama = row.kind === 'foldgate' && row.dialect === 'ollama'
  const { windowTokens } = room
  const recording = isOllama ? ollamaRecording(recorded, { windowTokens, hasIds: true }) : recorded
  const { count: countOurs } = await loadCounter('o200k_base')
  const count = (text: string) => Math.round(upstreamRatio * countOurs(text))
  const inputAt = openPolicyInput(recording, room, count)
  const sample =
    order.views === null || row.kind === 'policy'
      ? null
      : openViewSample(order.views, { recording, row, room })
  const sender = await openSender(order, recording, inputAt, count)
  try {
    const tally = await walkConversation({
      recording,
      sender,
      room,
      inputAt,
      count,
      isFirstLeftOut: upstreamRatio !== 1,
      ...(sample !== null && { onView: sample.add }),
    })
    return { order, tally, views: sample?.views() ?? [] }
  } finally {
    await sender.close()
  }
}

async function openSender(
  { row, room, reasoningTokens }: Order,
  recording: Recording,
  inputAt: (point: number) => PolicyInput,
  count: (text: string) => number,
): Promise<Sender> {
  if (row.kind === 'policy') {
    const openPolicy = policies.get(row.name)
    if (openPolicy === undefined) throw new Error(`there is no policy ${row.name}`)
    return openPolicySender(openPolicy(), recording, inputAt, count)
  }
  const asked = { recording, room, count }
  const { profile, dialect } = row
  if (dialect === 'ollama') return openFoldgateSender({ ...asked, profile, dialect })
  const windowed = { ...asked, profile: withWindow(profile, room.windowTokens) }
  if (dialect === 'chat-completions') return openFoldgateSender(windowed)
  return openLivedSender({ ...windowed, dialect, reasoningTokens })
}

const read = new Map<string, readonly Recording[]>()

/** A process does many orders of one file. */
function recordingsOf(folder: string, file: string): readonly Recording[] {
  const recordings = read.get(file) ?? readRecordings(folder, file)
  read.set(file, recordings)
  return recordings
}

await runCommand(measure, workers)
