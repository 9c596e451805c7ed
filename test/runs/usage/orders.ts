import { setTimeout as sleep } from 'node:timers/promises'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import type { Recording } from '../harness/recordings.ts'
import { judgeHonest, judgeOllama, type Verdict } from './judge.ts'
import { honestServer, OLLAMA_MODEL, ollamaKinds, ollamaServer } from './servers.ts'
import { chosen, talksBy, withAdded, type Sampling, type Source } from './talks.ts'
import { usageKinds } from './usage-kinds.ts'
import { walkTalk, type Walked, type WalkOptions } from './walk-talk.ts'

export type UsageOrder = Scenario & {
  readonly isStreamed: boolean
  readonly source: Source
  readonly sampling: Sampling
  readonly turn: number
}

export type Scenario = {
  readonly family: 'honest' | 'ollama'
  readonly kind: string
  /** The server's true window: for Ollama its `num_ctx`; for one that takes anything, what the settings say. */
  readonly windowTokens: number
  /** What the settings say; null: `auto`. Then an honest server refuses what is beyond its window. */
  readonly configuredTokens: number | null
}

export type Filter = { readonly kind: string | null; readonly windowTokens: number | null }

export function ordersOf(
  { windows, numContexts }: Sizes,
  filter: Filter,
  rest: { readonly source: Source; readonly sampling: Sampling },
): readonly UsageOrder[] {
  const honest = usageKinds.flatMap(({ name }) =>
    windows.flatMap((tokens) => scenariosOf('honest', name, tokens, tokens)),
  )
  const ollama = ollamaKinds.flatMap(({ name }) =>
    numContexts.flatMap((tokens) => scenariosOf('ollama', name, tokens, 2 * tokens)),
  )
  return [...honest, ...ollama]
    .filter(
      ({ kind, windowTokens }) => passes(filter.kind, kind) && passes(filter.windowTokens, windowTokens),
    )
    .flatMap((each, turn) => [false, true].map((isStreamed) => ({ ...each, ...rest, isStreamed, turn })))
}

export type Sizes = { readonly windows: readonly number[]; readonly numContexts: readonly number[] }

export const sizesOfField: Sizes = {
  windows: [8000, 16_000, 32_000, 64_000],
  numContexts: [4096, 8192, 6000, 12_000, 32_768],
}

export const sizesOfShortRun: Sizes = { windows: [8000], numContexts: [4096, 6000] }
export const kindNames = (): readonly string[] => [...usageKinds, ...ollamaKinds].map(({ name }) => name)

export type OrderReport = Awaited<ReturnType<typeof runOrder>>
export type TalkVerdict = Verdict & { readonly file: string; readonly talk: string }

/** Walks the conversations of an order, each through a Foldgate of its own that knows nothing. */
export async function runOrder(order: UsageOrder) {
  const { count } = await loadCounter('o200k_base')
  const setup = setupOf(order, count)
  const talks = chosen(talksBy(order.source), order.sampling, order.turn)
  const judge = order.family === 'honest' ? judgeHonest : judgeOllama
  const verdicts: TalkVerdict[] = []
  const warnings: string[] = []
  const walked: { readonly talk: Recording; readonly walk: Walked; readonly writtenAtMs: number }[] = []

  async function judgeOldest(): Promise<void> {
    const oldest = walked.shift()
    if (oldest === undefined) return
    const { talk, walk, writtenAtMs } = oldest
    await sleep(Math.max(0, writtenAtMs - performance.now()))
    const told = await walk.end()
    warnings.push(...told.warnings)
    verdicts.push({ file: talk.file, talk: talk.id, ...judge(order, walk.seen, told) })
  }

  for (const [index, talk] of talks.entries()) {
    const walk = await walkTalk({
      talk: withAdded(talk, setup.added),
      server: setup.open(),
      windowTokens: order.configuredTokens,
      model: setup.models[(index + order.turn) % setup.models.length] ?? '',
      stream: streamOf(order, index),
    })
    walked.push({ talk, walk, writtenAtMs: performance.now() + JOURNAL_MS })
    if (walked.length > OPEN_MAX) await judgeOldest()
  }
  while (walked.length > 0) await judgeOldest()
  return { order, verdicts, warnings }
}

const scenariosOf = (family: Scenario['family'], kind: string, windowTokens: number, named: number) =>
  [named, null].map((configuredTokens): Scenario => ({ family, kind, windowTokens, configuredTokens }))

const passes = <Value>(wanted: Value | null, value: Value): boolean => wanted === null || wanted === value

/** Journals wait a quarter of a second for more rows: meanwhile the next conversations are walked. */
const JOURNAL_MS = 350

/** Each Foldgate takes its memory. */
const OPEN_MAX = 4

/** Names that tell the tokenizer, that tell a family of which it is guessed, and that tell nothing. None has a small window. */
const models = ['gpt-4o', 'claude-sonnet-4-5', 'house-model', 'deepseek-chat']

function setupOf(order: UsageOrder, count: (text: string) => number) {
  const { windowTokens, configuredTokens } = order
  const ollama = ollamaKinds.find(({ name }) => name === order.kind)
  if (ollama !== undefined)
    return { open: () => ollamaServer(ollama, windowTokens, count), added: null, models: [OLLAMA_MODEL] }
  const kind = usageKinds.find(({ name }) => name === order.kind)
  if (kind === undefined) throw new Error(`There is no kind ${order.kind}.`)
  const isStrict = configuredTokens === null
  return { open: () => honestServer(kind, { windowTokens, isStrict, count }), added: kind.added, models }
}

/** Most clients ask for the usage of streams, and some do not; where it alone can tell of a cut, it is asked for. */
function streamOf({ isStreamed, family, turn }: UsageOrder, index: number): WalkOptions['stream'] {
  if (!isStreamed) return 'no'
  return family === 'ollama' || (index + turn) % 2 === 0 ? 'with-usage' : 'bare'
}
