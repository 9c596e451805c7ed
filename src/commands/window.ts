import type { Settings } from '../config/settings.ts'
import { openUpstreams } from '../upstream/upstreams.ts'
import type { ResolvedWindow } from '../models/resolve-window.ts'
import type { ModelRecord } from '../models/model-record.ts'
import { findOwnWindow, type OwnWindowParts } from '../models/own-window.ts'
import { readSharedWindow, type SharedModel } from '../models/models.ts'
import { digest } from '../pipeline/read/read-chat.ts'
import { openStoreToRead } from '../storage/open-store.ts'
import type { UserPlace } from '../storage/state-folder.ts'
import { StoreError, troubleOf } from '../storage/store-error.ts'
import { proxiesFrom } from '../upstream/pools.ts'
import { createServerWindows } from '../models/discovery/server-windows.ts'
import { lowestThresholdTokens } from '../compaction/due.ts'
import { grouped } from '../telemetry/log/lines.ts'
import { budgetOf, thresholdTokens } from '../tokens/budget.ts'
import { encodingFor, startingRatio } from '../tokens/tokenizer-families.ts'
import { targetOf, triggerOf, type Profile } from '../profiles/schema.ts'

export type WindowFound = Pick<ResolvedWindow, 'tokens' | 'kind' | 'source'>

export type LookUpOptions = Pick<OwnWindowParts, 'waitMs'> & {
  readonly settings: Settings
  readonly place: UserPlace
  /** Called with why the store could not be read. */
  readonly onTrouble: (message: string) => void
  /** Whether the upstream may be asked. Default: it may. */
  readonly asksUpstream?: boolean
}

/**
 * The window that a model gets under a profile, by what the store that the settings name has learnt of it, and by what the
 * upstream says now. The store is only read, whether a Foldgate runs on it or not.
 */
export async function lookUpWindow(
  { settings, place, onTrouble, asksUpstream = true, ...wait }: LookUpOptions,
  profile: Profile,
  model: string,
  requestTokens: number | null = null,
): Promise<ResolvedWindow> {
  const upstreams = openUpstreams(settings, proxiesFrom(place.env))
  const serverWindows = createServerWindows({ upstreams, onTrouble: () => {} })
  async function learntOf(of: SharedModel): Promise<ModelRecord> {
    try {
      const store = await openStoreToRead(settings.store, place)
      if (store === null) return {}
      return await readSharedWindow(store, of, digest).finally(() => store.close())
    } catch (error) {
      const why = error instanceof StoreError ? error.message : `the store failed (${troubleOf(error)})`
      onTrouble(`what was learnt of windows is not known: ${why}`)
      return {}
    }
  }
  try {
    const asked = asksUpstream ? serverWindows : { lookup: () => null, settled: async () => {} }
    const parts = { upstreams, serverWindows: asked, learntOf, nowMs: Date.now, ...wait }
    return await findOwnWindow(profile, model, parts, requestTokens)
  } finally {
    await serverWindows.close()
    await upstreams.destroy()
  }
}

/** A model's window under a profile, what of it a prompt may take, how that is counted, and where a compaction begins. */
export function windowLines(profile: Profile, window: WindowFound, model: string): readonly string[] {
  const { encoding } = profile.window
  const found = startingRatio(model, profile.window)
  const budgetTokens = budgetIn(profile, window)
  const countedWith = encoding === 'auto' ? encodingFor(model) : encoding
  const told = (ownTokens: number) => modelTokens(ownTokens, budgetTokens, found.ratio)
  return [
    `window   ${grouped(window.tokens)} tokens, ${window.kind}; source: ${sourceOf(profile, window)}`,
    `reserve  ${reserveText(profile, window)}`,
    `budget   ${told(Math.floor(budgetTokens / found.ratio))}`,
    `ratio    ${found.ratio} of the model's tokens for one of ours, by ${countedWith} (${ratioSources[found.source](found.family)})`,
    ...compactionLines(profile, Math.floor(budgetTokens / found.ratio), told),
  ]
}

/** The same in one line, as far as it is known without a model. */
export function profileLine(profile: Profile): string {
  const { tokens, max, output_reserve: reserve } = profile.window
  if (tokens === 'auto')
    return `profile  ${profile.name}: the window is the model's (foldgate check --model NAME), ${grouped(reserve)} tokens kept for the reply (window.output_reserve)`
  const window: WindowFound = { tokens: Math.min(tokens, max ?? tokens), kind: 'total', source: 'config' }
  const budgetTokens = budgetIn(profile, window)
  const kept = grouped(window.tokens - budgetTokens)
  const begins =
    profile.trigger === 'off'
      ? 'compaction is off'
      : `compaction begins beyond ${grouped(lowestThresholdTokens(profile, budgetTokens, 0))} and ends near ${grouped(thresholdTokens(targetOf(profile), budgetTokens, 0))}, with nothing fixed`
  return `profile  ${profile.name}: window ${grouped(window.tokens)} tokens (${isCapped(profile, window.tokens) ? 'window.max' : 'window.tokens'}), ${kept} kept for the reply (window.output_reserve), budget ${grouped(budgetTokens)}; ${begins}`
}

// --- internal ---

const sourceMeanings: Readonly<Record<WindowFound['source'], string>> = {
  config: ' (window.tokens of the profile)',
  request: ' (the request asks for it)',
  learnt: ' (an overflow answer of the upstream)',
  server: ' (the upstream says so)',
  table: ' (the built-in table)',
  default: ' (a guess: set window.tokens in a profile for this model)',
}

const ratioSources = {
  profile: () => 'window.ratio of the profile; the first answers take its place',
  family: (family: string | null) => `that of the family ${family}; the first answers take its place`,
  unknown: () => 'a guess: the name tells no family; the first answers take its place',
} as const

function budgetIn(profile: Profile, { tokens, kind }: WindowFound): number {
  return budgetOf({ tokens, kind }, { tokens: profile.window.output_reserve, of: 'profile' })
}

function sourceOf(profile: Profile, { tokens, source }: WindowFound): string {
  const ceiling = isCapped(profile, tokens) ? ', held down by window.max of the profile' : ''
  return `${source}${sourceMeanings[source]}${ceiling}`
}

function isCapped({ window }: Profile, tokens: number): boolean {
  return window.max === tokens && window.tokens !== tokens
}

function reserveText(profile: Profile, window: WindowFound): string {
  if (window.kind === 'input') return 'none: this window is for the prompt alone'
  const reserveTokens = window.tokens - budgetIn(profile, window)
  const isQuarter = reserveTokens < profile.window.output_reserve
  const source = isQuarter
    ? 'a quarter of the window; window.output_reserve is more'
    : 'window.output_reserve'
  return `${grouped(reserveTokens)} tokens for the reply (${source}); a request's own limit takes its place`
}

/** Our count of tokens as the model's. A count that fills the budget is given as the budget, not rounded. */
function modelTokens(ownTokens: number, budgetTokens: number, ratio: number): string {
  if (ratio === 1) return `${grouped(ownTokens)} tokens`
  const isBudget = ownTokens >= Math.floor(budgetTokens / ratio)
  const tokens = isBudget ? budgetTokens : Math.round(ownTokens * ratio)
  return `${grouped(tokens)} tokens of the model's, ${grouped(ownTokens)} of ours`
}

function compactionLines(
  profile: Profile,
  budgetTokens: number,
  told: (ownTokens: number) => string,
): readonly string[] {
  if (profile.trigger === 'off')
    return ['begins   never (trigger: off): only what the upstream refuses is made smaller']
  const beginsAt = lowestThresholdTokens(profile, budgetTokens, 0)
  const trigger = triggerOf(profile)
  const isTrigger = beginsAt === thresholdTokens(trigger, budgetTokens, 0)
  const why = isTrigger
    ? settingText('trigger', trigger)
    : 'the lowest "at" of its passes, with nothing fixed'
  const target = targetOf(profile)
  return [
    `begins   when a prompt exceeds ${told(beginsAt)} (${why})`,
    `ends     at ${told(thresholdTokens(target, budgetTokens, 0))} (${settingText('target', target)})`,
    ...alsoLines(profile),
  ]
}

function settingText(name: string, setting: number): string {
  if (setting > 1) return `${name}: ${grouped(setting)} tokens of the whole prompt`
  if (setting === 1) return `${name}: 1, when it does not fit`
  return `${name}: ${Number(setting.toFixed(4))} of what is not fixed; the figure is for nothing fixed`
}

function alsoLines({ every, limit }: Profile): readonly string[] {
  const told = [
    [every.turns, 'every %s turns'],
    [every.tool_calls, 'every %s tool calls'],
    [limit.turns, 'with more than %s turns'],
    [limit.messages, 'with more than %s messages'],
  ] as const
  const set = told.filter(([value]) => value > 0).map(([value, text]) => text.replace('%s', grouped(value)))
  return set.length === 0 ? [] : [`also     ${set.join(', ')}`]
}
