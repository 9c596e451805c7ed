/**
 * How likely a small real model finds what was recorded next, given each view of the conversation before: Foldgate beside
 * clients that compact by themselves, all with the same budget. It is a measure of a step, not of a task solved.
 *
 *   node test/runs/likelihood/likelihood.ts FOLDER --model FILE.gguf [--file NAME]… [--window N] [--moments N [--seed S]]
 *     [--profile FILE.yaml]… [--target SHARE]… [--without PART]… [--foldgate CHECKOUT]… [--row NAME]… [--full-tokens N] [--state FILE [--only-scored]]
 *     [--workers N]
 *
 * FOLDER holds JSON lines, a conversation a line with `id` and `messages`; of the files (those of coding agents if none is
 * named) conversations count that call tools. *Moments* are requests whose messages exceed the budget, which is the window
 * less 1,024 tokens for the reply and less the tools, and which as a whole still have at most `--full-tokens` (24,000) of the
 * model's own tokens. `--moments` (60) of them are drawn, as evenly over conversations as there are some.
 *
 * First the views are made: every request of a conversation is made again, through real sockets and a Foldgate, or by a
 * policy (see `fidelity/rows.ts`). With `--foldgate` the rows of Foldgate come from the sources of another checkout as well,
 * so that two versions stand side by side. Then the model reads each view, as plain text that is the same for all rows and
 * without tools, and is asked for the probability of the first 200 tokens of what was said next. Rows that are always there:
 * `everything`, the whole conversation, and `nothing`, of which system messages, task and newest round are left. `stranger`
 * has between those what another conversation says.
 *
 * `--target 0.6` adds a row that compacts down to that share, `--without names` one whose recaps do not tell that part.
 *
 * - `R`: of the likelihood that everything gains over nothing, the share that the row gains: (NLL of nothing − NLL of the
 *   row) / (NLL of nothing − NLL of everything), each summed over all moments. 1 is as good as everything, 0 as nothing.
 * - `decided`: the same over those tokens only whose word (three letters, digits or `_` and more) stands in the conversation
 *   before its newest round and not in that. Small models copy what is near; these come from afar.
 * - `name`, `arguments`, `text`: the same of the tool's name, of its arguments, of the words around.
 * - Intervals hold 95 of 100 resamples of whole conversations. Below, what the first row gains more than each other one.
 * - `tokens`: of the view's messages, by the judge's count; `recall`, `far`, `verbatim`: see `fidelity.ts`; `own`: of the
 *   tokens of the agent's own messages, those that stand in the view byte for byte.
 *
 * The state file (by default one of the folder for temporary files) holds a line for what the model found of a view, by the
 * bytes of model, view and next message: a run that was stopped goes on, and views that did not change are not read again.
 * The views lie beside it, in `FILE.views`. `--only-scored` prints the table of those moments that have been scored.
 */
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { figuresOf, sumOf as tallySum } from '../fidelity/figures.ts'
import { openPolicyInput } from '../fidelity/senders.ts'
import { readProfiles, variantsOf } from '../fidelity/rows.ts'
import {
  filesIn,
  readFolderCommand,
  refuse,
  say,
  text,
  texts,
  whole,
  yes,
  runCommand,
} from '../harness/command.ts'
import { rawMessage, readRecordings, type RawMessage } from '../harness/recordings.ts'
import { alignedTable, grouped, seconds, sumOf } from '../harness/table.ts'
import { workersFor } from '../harness/workers.ts'
import { aspects, costsOf, openGains, type Costs, type Estimate, type ScoredMoment } from './gains.ts'
import { openModel, type Model } from './model.ts'
import { drawMoments, hasCalls, momentsOf, type Moment } from './moments.ts'
import { openState, type Score } from './state.ts'
import {
  EVERYTHING,
  NOTHING,
  openPresence,
  policyRows,
  viewsOf,
  type Presence,
  type ViewRow,
} from './views.ts'
import { labelsOf, newestRoundOf, openingOf, piecesOf, saidPieces } from './written.ts'

const workers = workersFor(scoreView)

async function measure(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const options = readOptions(args)
  const { rows, statePath, modelPath } = options
  const { moments, labels, costsBy } = await openMoments(options)
  if (moments.length === 0) refuse('No request of the recordings exceeds the window and fits into the model.')
  note(`${moments.length} moments of ${conversationsOf(moments).length} conversations`)
  const views = await storeViews(options, moments)
  note(`views of ${rows.length} rows are made, ${elapsed()}`)

  const state = openState(statePath)
  const waiting = new Map(
    inReadingOrder(views)
      .filter(({ key }) => state.get(key) === null)
      .map((view) => [view.key, view]),
  )
  if (!options.isOnlyScored) {
    const contextTokens = options.fullTokensMax + SCORED_TOKENS_MAX + FRAME_TOKENS
    const orders = [...waiting.values()].map(({ key, path, row, moment }) => {
      return { modelPath, contextTokens, key, path, about: { row, moment: moment.id } }
    })
    let done = 0
    await workers.inWorkers(orders, options.workers, {
      onReport: ({ about, score, tookMs }) => {
        state.add(score, { ...about, tookMs })
        done += 1
        note(`${done} of ${orders.length}: ${about.moment} ${about.row}, ${seconds(tookMs)}; ${elapsed()}`)
      },
    })
  }

  const scored = moments.flatMap((moment): readonly ScoredMoment[] => {
    const costs = new Map<string, Costs>()
    for (const view of views) {
      const score = view.moment === moment ? state.get(view.key) : null
      if (score !== null) costs.set(view.row, costsBy(score, labels(moment)))
    }
    const [nothing, everything] = [costs.get(NOTHING), costs.get(EVERYTHING)]
    if (costs.size < rows.length || nothing === undefined || everything === undefined) return []
    return [{ conversation: moment.conversation.id, id: moment.id, rows: costs, nothing, everything }]
  })
  const ids = new Set(scored.map(({ id }) => id))
  const counted = views.filter(({ moment }) => ids.has(moment.id))
  say(
    `\n${basename(modelPath)}, window ${options.room.windowTokens}: ${scored.length} moments of ${
      new Set(scored.map(({ conversation }) => conversation)).size
    } conversations\n`,
  )
  if (scored.length > 0) say(tablesOf(rows, scored, counted))
  say(`\n${elapsed()}`)
  return true
}

// --- internal ---

type Options = ReturnType<typeof readOptions>

function readOptions(args: readonly string[]) {
  const usage = 'npm run likelihood -- FOLDER --model FILE.gguf'
  const { folder, values } = readFolderCommand(args, flags, usage)
  const modelPath = values.model ?? refuse(`Name a model: ${usage}`)
  if (!existsSync(modelPath)) refuse(`There is no model ${modelPath}.`)
  const there = allRows(
    new Map([...readProfiles(values.profile ?? []), ...variantsOf(values)]),
    values.foldgate ?? [],
  )
  const names = there.map(({ name }) => name)
  for (const name of values.row ?? [])
    if (!names.includes(name)) refuse(`There is no row named ${name}; there are ${names.join('; ')}.`)
  const isAsked = ({ name }: ViewRow) => values.row?.includes(name) ?? true
  const all = filesIn(folder, values.file)
  return {
    folder,
    files: values.file === null ? all.filter((name) => CODING.test(name)) : all,
    modelPath,
    rows: there.filter((row) => isAsked(row) || row.name === NOTHING || row.name === EVERYTHING),
    room: { windowTokens: values.window, reserveTokens: RESERVE_TOKENS },
    count: values.moments,
    seed: values.seed,
    fullTokensMax: values['full-tokens'],
    statePath: values.state ?? join(tmpdir(), 'foldgate-likelihood.jsonl'),
    isOnlyScored: values['only-scored'],
    workers: values.workers,
  }
}

const RESERVE_TOKENS = 1024
const CODING = /^(?:coding|openhands|swe-agent)/

const flags = {
  model: text(),
  file: texts,
  window: whole(8192, 2 * RESERVE_TOKENS),
  moments: whole(60),
  seed: whole(1),
  profile: texts,
  foldgate: texts,
  row: texts,
  target: texts,
  without: texts,
  'full-tokens': whole(24_000),
  state: text(),
  'only-scored': yes,
  workers: whole(1),
}

/** Foldgate's, each beside the same of other checkouts; then the clients'. */
function allRows(profiles: ReadonlyMap<string, object>, checkouts: readonly string[]): readonly ViewRow[] {
  const given = [...new Map<string, object>([['truncate', { strategy: 'truncate' }], ...profiles])]
  const foldgates = given.flatMap(([name, profile]) => [
    { kind: 'foldgate' as const, name, profile, checkout: null },
    ...checkouts.map((checkout) => ({
      kind: 'foldgate' as const,
      name: `${name} of ${basename(checkout)}`,
      profile,
      checkout,
    })),
  ])
  return [...foldgates, ...policyRows]
}

/** Chooses moments, and reads what is asked of them. */
async function openMoments(options: Options) {
  const model = await openModel(options.modelPath, null)
  const tokensOf = openTokenizer(model)
  const { count } = await loadCounter('o200k_base')
  const conversations = options.files.flatMap((file) =>
    readRecordings(options.folder, file)
      .filter(hasCalls)
      .map((recording) => ({ id: `${file.replace(/\.jsonl$/, '')}/${recording.id}`, recording })),
  )
  const modelSizeOf = ({ message }: RawMessage) =>
    piecesOf(message).reduce((sum, piece) => sum + tokensOf(piece.text).length, 0)
  const all = conversations.flatMap((conversation) => {
    const { budgetTokens, sizeOf } = openPolicyInput(conversation.recording, options.room, count)(0)
    return momentsOf(conversation, {
      sizeOf,
      budgetTokens,
      modelSizeOf,
      fullTokensMax: options.fullTokensMax,
    })
  })
  const labels = ({ conversation, point }: Moment) => {
    const history = conversation.recording.messages.slice(0, point)
    return labelsOf({
      pieces: saidPieces(nextOf(conversation.recording.messages, point).message),
      tokensOf: (piece) => model.textsOf(tokensOf(piece)),
      history: history.map(({ message }) => message),
      newestRound: newestRoundOf(history).map(({ message }) => message),
    })
  }
  return {
    moments: drawMoments(all, options),
    labels,
    costsBy: (score: Score, given: ReturnType<typeof labels>) => costsOf(score.logProbabilities, given),
  }
}

/** A view in a file of its own, and what it holds. */
type StoredView = {
  readonly row: string
  readonly moment: Moment
  readonly key: string
  readonly path: string
  readonly presence: Presence
}

/** Makes the views of all rows, and stores each by its key. */
async function storeViews(options: Options, moments: readonly Moment[]): Promise<readonly StoredView[]> {
  const { count } = await loadCounter('o200k_base')
  const folder = `${options.statePath}.views`
  mkdirSync(folder, { recursive: true })
  const groups = [...Map.groupBy(moments, ({ conversation }) => conversation).entries()]
  const stored: StoredView[] = []
  for (const [place, [{ recording }, own]] of groups.entries()) {
    const inputAt = openPolicyInput(recording, options.room, count)
    const presenceOf = openPresence(recording)
    const [stranger, [other] = []] = groups[(place + 1) % groups.length] ?? []
    const asked = {
      recording,
      points: own.map(({ point }) => point),
      stranger: stranger?.recording.messages.slice(0, other?.point) ?? [],
      inputAt,
      room: options.room,
      count,
    }
    for (const row of options.rows) {
      const views = await viewsOf({ ...asked, row })
      for (const moment of own) {
        const view = views.get(moment.point) ?? []
        const told = JSON.stringify({
          view: view.map((message) => message.text),
          next: nextOf(recording.messages, moment.point).text,
        } satisfies ViewFile)
        const key = hash('sha256', `${VERSION} ${modelName(options.modelPath)} ${told}`)
        const path = join(folder, `${key}.json`)
        if (!existsSync(path)) writeFileSync(path, told)
        stored.push({ row: row.name, moment, key, path, presence: presenceOf(inputAt(moment.point), view) })
      }
    }
  }
  return stored
}

/** The texts of messages. */
type ViewFile = { readonly view: readonly string[]; readonly next: string }

/** Of how views are written for the model and read by it: another one makes all scores anew. */
const VERSION = 2

/** So much of a message is asked for: few long ones would decide a sum. */
const SCORED_TOKENS_MAX = 200
/** What stands around all messages together. */
const FRAME_TOKENS = 100

const modelName = (path: string): string => `${basename(path)} ${statSync(path).size}`

const nextOf = (messages: readonly RawMessage[], point: number): RawMessage =>
  messages[point] ?? rawMessage('{}')

/** A view that is to be scored. */
type Order = {
  readonly modelPath: string
  readonly contextTokens: number
  readonly key: string
  readonly path: string
  readonly about: { readonly row: string; readonly moment: string }
}

type OrderReport = Pick<Order, 'about'> & { readonly score: Score; readonly tookMs: number }

/** Views of one conversation that begin alike stand together, since a model does not read the same beginning twice. */
function inReadingOrder(views: readonly StoredView[]): readonly StoredView[] {
  const told = new Map(views.map(({ path }) => [path, readFileSync(path, 'utf8')]))
  const textOfView = ({ path }: StoredView) => told.get(path) ?? ''
  return [...Map.groupBy(views, ({ moment }) => moment.conversation).values()].flatMap((own) =>
    own.toSorted((one, other) => (textOfView(one) < textOfView(other) ? -1 : 1)),
  )
}

let opened: { readonly model: Model; readonly tokensOf: (text: string) => readonly number[] } | null = null

async function scoreView({ modelPath, contextTokens, key, path, about }: Order): Promise<OrderReport> {
  const beganMs = performance.now()
  if (opened === null) {
    const model = await openModel(modelPath, contextTokens)
    opened = { model, tokensOf: openTokenizer(model) }
  }
  const { model, tokensOf } = opened
  const { view, next }: ViewFile = JSON.parse(readFileSync(path, 'utf8'))
  const read = view.flatMap((message) => piecesOf(rawMessage(message).message))
  const prompt = [...read, openingOf('assistant')].flatMap((piece) => tokensOf(piece.text))
  const said = saidPieces(rawMessage(next).message).flatMap((piece) => tokensOf(piece.text))
  const found = await model.logProbabilities([...model.opening, ...prompt], said.slice(0, SCORED_TOKENS_MAX))
  const logProbabilities = found.map((each) => Number(each.toFixed(DIGITS)))
  return { about, score: { key, logProbabilities }, tookMs: Math.round(performance.now() - beganMs) }
}

const DIGITS = 5

/** Cuts each text once. */
function openTokenizer(model: Model): (text: string) => readonly number[] {
  const known = new Map<string, readonly number[]>()
  return function tokensOf(piece) {
    const tokens = known.get(piece) ?? model.tokenize(piece)
    known.set(piece, tokens)
    return tokens
  }
}

/** What rows gain and hold, and by how much the first gains more than the others. */
function tablesOf(
  rows: readonly ViewRow[],
  scored: readonly ScoredMoment[],
  views: readonly StoredView[],
): string {
  const gains = openGains(scored)
  const names = rows.map(({ name }) => name)
  const [first = ''] = names
  const presences = (name: string) => {
    const own = views.filter(({ row }) => row === name).map(({ presence }) => presence)
    const { recall, far, verbatim } = figuresOf(tallySum(own.map(({ tally }) => tally)))
    const sum = (key: 'viewTokens' | 'ownTokens' | 'ownTokensHeld') => sumOf(own, (each) => each[key])
    const ownShare = (100 * sum('ownTokensHeld')) / Math.max(1, sum('ownTokens'))
    return [
      grouped(sum('viewTokens') / Math.max(1, own.length)),
      ...[recall, far, verbatim, ownShare].map((share) => share.toFixed(1)),
    ]
  }
  const gained = [
    ['', 'R', '', 'decided', '', 'name', 'arguments', 'text', 'tokens', 'recall', 'far', 'verbatim', 'own'],
    ...names.map((name) => {
      const [all, decided, ...parts] = aspects.map((aspect) => gains.gain(name, aspect))
      return [
        name,
        ...[all, decided].flatMap((each) => (each === undefined ? [] : estimateCells(each))),
        ...parts.map(({ value }) => value.toFixed(3)),
        ...presences(name),
      ]
    }),
  ]
  const others = names.filter((name) => name !== first && name !== EVERYTHING && name !== NOTHING)
  const differences = [
    [`${first} less`, 'R', '', 'decided', ''],
    ...others.map((name) => [
      name,
      ...estimateCells(gains.difference(first, name, 'all')),
      ...estimateCells(gains.difference(first, name, 'decided')),
    ]),
  ]
  return [gained, differences].map(alignedTable).join('\n\n')
}

const estimateCells = ({ value, low, high }: Estimate): readonly string[] => [
  value.toFixed(3),
  `[${low.toFixed(3)}, ${high.toFixed(3)}]`,
]

const conversationsOf = (moments: readonly Moment[]): readonly string[] => [
  ...new Set(moments.map(({ conversation }) => conversation.id)),
]

const note = (line: string): void => void process.stderr.write(`${line}\n`)

await runCommand(measure, workers)
