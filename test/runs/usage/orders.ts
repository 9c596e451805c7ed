import { ollamaKinds } from './servers.ts'
import type { Sampling, Source } from './talks.ts'
import { usageKinds } from './usage-kinds.ts'

/** Some conversations before one kind of server, with one window, plain or streamed. */
export type UsageOrder = Scenario & {
  readonly isStreamed: boolean
  readonly source: Source
  readonly sampling: Sampling
  /** Whose turn it is among the conversations. */
  readonly turn: number
}

export type Scenario = {
  readonly family: 'honest' | 'ollama'
  /** The name of a kind. */
  readonly kind: string
  /** The server's true window: for Ollama its `num_ctx`; for one that takes anything, what the settings say. */
  readonly windowTokens: number
  /** What the settings say; null: `auto`. Then an honest server refuses what is beyond its window. */
  readonly configuredTokens: number | null
}

/** What the command line leaves of the scenarios; null: all of them. */
export type Filter = { readonly kind: string | null; readonly windowTokens: number | null }

/** Every scenario, each plain and streamed. */
export function ordersOf(
  { windows, numContexts }: Sizes,
  filter: Filter,
  rest: { readonly source: Source; readonly sampling: Sampling },
): readonly UsageOrder[] {
  const honest = usageKinds.flatMap(({ name }) =>
    windows.flatMap((windowTokens) =>
      [windowTokens, null].map((configuredTokens) =>
        scenario('honest', name, windowTokens, configuredTokens),
      ),
    ),
  )
  const ollama = ollamaKinds.flatMap(({ name }) =>
    numContexts.flatMap((numContext) =>
      [numContext * 2, null].map((configuredTokens) =>
        scenario('ollama', name, numContext, configuredTokens),
      ),
    ),
  )
  return [...honest, ...ollama]
    .filter(
      ({ kind, windowTokens }) => passes(filter.kind, kind) && passes(filter.windowTokens, windowTokens),
    )
    .flatMap((each, turn) => [false, true].map((isStreamed) => ({ ...each, ...rest, isStreamed, turn })))
}

/** The windows of honest servers, and what Ollama is started with, in tokens. */
export type Sizes = { readonly windows: readonly number[]; readonly numContexts: readonly number[] }

/** Of a folder of recordings. */
export const sizesOfField: Sizes = {
  windows: [8000, 16_000, 32_000, 64_000],
  numContexts: [4096, 8192, 6000, 12_000, 32_768],
}

/** Of the short run on made conversations. */
export const sizesOfShortRun: Sizes = { windows: [8000], numContexts: [4096, 6000] }

export function kindNames(): readonly string[] {
  return [...usageKinds, ...ollamaKinds].map(({ name }) => name)
}

// --- internal ---

function scenario(
  family: Scenario['family'],
  kind: string,
  windowTokens: number,
  configuredTokens: number | null,
): Scenario {
  return { family, kind, windowTokens, configuredTokens }
}

function passes<Value>(wanted: Value | null, value: Value): boolean {
  return wanted === null || wanted === value
}
