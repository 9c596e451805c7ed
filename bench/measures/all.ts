import type { Measure } from '../section.ts'
import { attacks } from './attacks.ts'
import { firstSight } from './first-sight.ts'
import { memory } from './memory.ts'
import { relay } from './relay.ts'
import { startUp } from './start-up.ts'
import { streams } from './streams.ts'
import { warmTurns } from './warm-turns.ts'
import { worstTexts } from './worst-texts.ts'

/** In the order of the page. */
export const measures: readonly Measure[] = [
  relay,
  streams,
  warmTurns,
  firstSight,
  worstTexts,
  attacks,
  memory,
  startUp,
]
