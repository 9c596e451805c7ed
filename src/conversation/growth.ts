import type { Message } from './message.ts'
import type { Structure } from './structure.ts'

/**
 * An earlier conversation that another begins like: their first `shared` messages have the same bytes and the same
 * facts. What was found out about those then need not be found out again.
 */
export type Growth = {
  readonly messages: readonly Message[]
  readonly structure: Structure
  /** The meaning key of every prefix. */
  readonly keys: readonly string[]
  readonly shared: number
}
