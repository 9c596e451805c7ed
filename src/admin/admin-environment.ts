import type { HttpBindings } from '@hono/node-server'

/** What routes of the admin listener find in their context. */
export type AdminEnvironment = { Bindings: HttpBindings }
