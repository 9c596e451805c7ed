import { resolveWindow, type ResolvedWindow } from './resolve-window.ts'
import type { Profile } from '../profiles/schema.ts'
import { parseTarget } from '../upstream/target.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { ServerWindows } from './discovery/server-windows.ts'
import type { WindowQuestion } from './discovery/window-question.ts'

/**
 * The window that a model gets under a profile, as a request without a credential of its own would find it: what
 * `foldgate check` and `explain` tell. The upstream is asked where a request would ask it.
 */
export async function findOwnWindow(
  profile: Profile,
  model: string,
  { upstreams, serverWindows }: { readonly upstreams: Upstreams; readonly serverWindows: ServerWindows },
): Promise<ResolvedWindow> {
  const sources = {
    configuredTokens: profile.window.tokens === 'auto' ? null : profile.window.tokens,
    maxTokens: profile.window.max,
    learnt: null,
    suggestedTokens: null,
    answeredTokens: 0,
    reserveTokens: profile.window.output_reserve,
    names: [model],
    host: upstreams.addressOf(profile.upstream).hostname,
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
  await serverWindows.settled(question, WAIT_MS)
  const said = serverWindows.lookup(question)
  return resolveWindow({ ...sources, server: said === null ? null : { ...said, sinceMs: 0 } })
}

// --- internal ---

/** How long is waited for an upstream's word, in milliseconds. */
const WAIT_MS = 2_000
