import { type ModelRecord, nameLoaded, type Values } from './model-record.ts'
import { type Belief, beliefAt } from './lifetimes.ts'
import { type ResolvedWindow, resolveWindow, type ServerFigure } from './resolve-window.ts'
import type { Eventual } from '../scheduling/drive.ts'
import type { SharedModel } from './models.ts'
import type { Profile } from '../profiles/schema.ts'
import { parseTarget } from '../upstream/target.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { ServerWindow, ServerWindows } from './discovery/server-windows.ts'
import type { WindowQuestion } from './discovery/ask-json.ts'

export type OwnWindowParts = {
  readonly upstreams: Pick<Upstreams, 'addressOf'>
  readonly serverWindows: Pick<ServerWindows, 'lookup' | 'settled'>
  /** What a Foldgate has learnt of a model's window. */
  readonly learntOf: (model: SharedModel) => Eventual<ModelRecord>
  readonly nowMs: () => number
  /** How long is waited for an upstream's word, in milliseconds. Default: two seconds. */
  readonly waitMs?: number
}

/**
 * The window that a model gets under a profile, as a request without a credential of its own would find it, had it learnt what
 * others have: what `foldgate check` and `explain` tell. `requestTokens`: what the request has the model loaded with. The upstream is asked where a request would ask it; where it says
 * nothing without a client's credential, what it said with one counts.
 */
export async function findOwnWindow(
  profile: Profile,
  model: string,
  { upstreams, serverWindows, learntOf, nowMs, waitMs = WAIT_MS }: OwnWindowParts,
  requestTokens: number | null = null,
): Promise<ResolvedWindow> {
  const { hostname, display } = upstreams.addressOf(profile.upstream)
  const loadedAs = nameLoaded(model, requestTokens)
  const learnt = await learntOf({
    upstream: profile.upstream ?? 'default',
    address: display,
    model: loadedAs,
  })
  const sources = {
    configuredTokens: profile.window.tokens === 'auto' ? null : profile.window.tokens,
    requestTokens,
    maxTokens: profile.window.max,
    learnt: beliefAt(learnt, 'window', nowMs()),
    suggestedTokens: null,
    answeredTokens: beliefAt(learnt, 'answered', nowMs())?.value ?? 0,
    reserve: { tokens: profile.window.output_reserve, of: 'profile' as const },
    names: [model],
    host: hostname,
  }
  if (sources.configuredTokens !== null) return resolveWindow({ ...sources, server: null })
  const question: WindowQuestion = {
    upstream: profile.upstream,
    credential: '',
    model,
    target: parseTarget('/v1/chat/completions'),
    rawHeaders: [],
    withholdCredential: false,
  }
  serverWindows.lookup(question)
  await serverWindows.settled(question, waitMs)
  const said = serverWindows.lookup(question)
  return resolveWindow({ ...sources, server: serverFigure(said, beliefAt(learnt, 'stated', nowMs())) })
}

// --- internal ---

const WAIT_MS = 2_000

/** What the server says now, else what it said; since when, as far as that is known. */
function serverFigure(
  said: ServerWindow | null,
  stated: Belief<Values['stated']> | null,
): ServerFigure | null {
  const isSame = said === null || said.tokens === stated?.value.tokens
  const sinceMs = isSame && stated?.value.hasChanged === true ? stated.sinceMs : 0
  if (said !== null) return { ...said, sinceMs }
  return stated === null ? null : { ...stated.value, sinceMs }
}
