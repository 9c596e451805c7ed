import { figuresOf } from './figures.ts'
import { walk, type WalkOptions } from './walk.ts'

/** One figure as each of those tells it who do; null where one does not. */
export type Figure = {
  readonly name: string
  readonly upstream: string | null
  readonly metrics: string | null
  /** Rows and events. */
  readonly journal: string | null
  /** Those of the answers. */
  readonly headers: string | null
  /** Cards, the headline, the messages of a conversation. */
  readonly pages: string | null
  readonly agrees: boolean
}

/**
 * Makes every request of a conversation through a Foldgate and compares all that it tells of them, everywhere, with what
 * the upstream has counted itself, and with what it would have made of the same requests without Foldgate.
 */
export async function agreementOf(options: WalkOptions): Promise<readonly Figure[]> {
  return figuresOf(await walk(options))
}
