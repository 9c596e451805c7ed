import { dialects } from '../formats/formats.ts'
import type { Route } from '../pipeline/client-request.ts'
import { barePath } from '../upstream/target.ts'

/** The route of a request, by its path behind `/u/NAME`, which chooses an upstream and nothing else. */
export function routeOf(method: string, path: string): Route {
  if (method !== 'POST') return relayed
  const bare = barePath(path)
  for (const [end, route] of routes) {
    if (!bare.endsWith(end)) continue
    // Messages of the Assistants API are stored, not generated.
    return /\/threads\/[^/]+\/messages$/.test(bare) ? relayed : route
  }
  return relayed
}

// --- internal ---

const relayed: Route = { kind: 'relay', uncompacted: null }

/**
 * By the ends of their paths, whatever stands before: `/v1`, nothing, `/openai/v1`, Azure's `/openai/deployments/ID`. The
 * first that fits is taken.
 */
const routes: readonly (readonly [string, Route])[] = [
  ...dialects.flatMap((dialect) =>
    dialect.paths.map((path) => [`/${path}`, { kind: 'conversation', dialect }] as const),
  ),
  ...(['/completions', '/api/chat'] as const).map(
    (uncompacted) => [uncompacted, { kind: 'relay', uncompacted }] as const,
  ),
]
