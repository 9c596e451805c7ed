import { METHOD_NAME_ALL } from 'hono/router'
import { PatternRouter } from 'hono/router/pattern-router'
import type { Dialect } from '../dialects/contract.ts'
import { dialects } from '../dialects/dialects.ts'
import { barePath, type UncompactedPath } from '../upstream/target.ts'

/** Where a method and a path lead. */
export type Route =
  /** A conversation that is read, and compacted if it has to be. */
  | { readonly kind: 'conversation'; readonly dialect: Dialect }
  /** Passed on unread. `uncompacted`: the API that generates from conversations; null if the path is none of these. */
  | { readonly kind: 'relay'; readonly uncompacted: UncompactedPath | null }

/** The route of a request, by its path behind `/u/NAME`, which chooses an upstream and nothing else. */
export function routeOf(method: string, path: string): Route {
  const [[first]] = router.match(method, barePath(path))
  return first?.[0] ?? relayed
}

// --- internal ---

const relayed: Route = { kind: 'relay', uncompacted: null }

const router = new PatternRouter<Route>()

// The first that fits is taken.
for (const dialect of dialects) {
  for (const path of dialect.paths)
    router.add('POST', underAnyPrefix(path), { kind: 'conversation', dialect })
}
// Messages of the Assistants API are stored, not generated.
router.add('POST', '/:before{(?:.+/)?threads/.+}', relayed)
router.add('POST', underAnyPrefix('responses'), { kind: 'relay', uncompacted: '/responses' })
router.add('POST', underAnyPrefix('messages'), { kind: 'relay', uncompacted: '/messages' })
router.add('POST', underAnyPrefix('completions'), { kind: 'relay', uncompacted: '/completions' })
router.add('POST', underAnyPrefix('api/chat'), { kind: 'relay', uncompacted: '/api/chat' })
router.add(METHOD_NAME_ALL, '*', relayed)

/** `/v1`, none, `/openai/v1`, Azure's `/openai/deployments/ID`: whatever stands before it. */
function underAnyPrefix(path: string): string {
  return `/:path{(?:.+/)?${path}}`
}
