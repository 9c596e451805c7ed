import type { Measure } from '../section.ts'
import { relay } from './relay.ts'
import { startUp } from './start-up.ts'
import { streams } from './streams.ts'

/** In the order of the page. */
export const measures: readonly Measure[] = [relay, streams, startUp]
