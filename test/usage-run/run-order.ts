import { setTimeout as sleep } from 'node:timers/promises'
import { loadCounter } from '../../src/pressure/encodings.ts'
import { judgeHonest, judgeOllama, type Verdict } from './judge.ts'
import type { UsageOrder } from './orders.ts'
import { honestServer, OLLAMA_MODEL, ollamaKinds, ollamaServer, type Server } from './servers.ts'
import { chosen, talksBy, withAdded } from './talks.ts'
import { usageKinds } from './usage-kinds.ts'
import { walkTalk, type Walked, type WalkOptions } from './walk-talk.ts'

export type OrderReport = {
  readonly order: UsageOrder
  /** One a conversation. */
  readonly verdicts: readonly TalkVerdict[]
  readonly warnings: readonly string[]
}

export type TalkVerdict = Verdict & { readonly file: string; readonly talk: string }

/** Walks the conversations of an order, each through a Foldgate of its own that knows nothing. */
export async function runOrder(order: UsageOrder): Promise<OrderReport> {
  const { count } = await loadCounter('o200k_base')
  const setup = setupOf(order, count)
  const talks = chosen(talksBy(order.source), order.sampling, order.turn)
  const walked: { readonly file: string; readonly talk: string; readonly walk: Walked }[] = []
  for (const [index, talk] of talks.entries()) {
    const walk = await walkTalk({
      talk: withAdded(talk, setup.added),
      server: setup.open(),
      windowTokens: order.configuredTokens,
      model: setup.model,
      stream: streamOf(order, index),
    })
    walked.push({ file: talk.file, talk: talk.id, walk })
  }
  await sleep(JOURNAL_MS)

  const warnings: string[] = []
  const verdicts: TalkVerdict[] = []
  const judge = order.family === 'honest' ? judgeHonest : judgeOllama
  for (const { file, talk, walk } of walked) {
    const told = await walk.end()
    warnings.push(...told.warnings)
    verdicts.push({ file, talk, ...judge(order, walk.seen, told) })
  }
  return { order, verdicts, warnings }
}

// --- internal ---

/** Journals wait a quarter of a second for more rows, and those of the last conversation have just begun to. */
const JOURNAL_MS = 350

type Setup = {
  readonly open: () => Server
  readonly added: Parameters<typeof withAdded>[1]
  readonly model: string | null
}

function setupOf(order: UsageOrder, count: (text: string) => number): Setup {
  const { windowTokens, configuredTokens } = order
  const ollama = ollamaKinds.find(({ name }) => name === order.kind)
  if (ollama !== undefined)
    return { open: () => ollamaServer(ollama, windowTokens, count), added: null, model: OLLAMA_MODEL }
  const kind = usageKinds.find(({ name }) => name === order.kind)
  if (kind === undefined) throw new Error(`There is no kind ${order.kind}.`)
  const isStrict = configuredTokens === null
  return {
    open: () => honestServer(kind, { windowTokens, isStrict, count }),
    added: kind.added,
    model: null,
  }
}

/** Most clients ask for the usage of streams, and some do not; where it alone can tell of a cut, it is asked for. */
function streamOf({ isStreamed, family }: UsageOrder, index: number): WalkOptions['stream'] {
  if (!isStreamed) return 'no'
  return family === 'ollama' || index % 2 === 0 ? 'with-usage' : 'bare'
}
