import type { FuzzTarget } from './target.ts'
import { admin } from './targets/admin.ts'
import { agents, messageAgents } from './targets/agents.ts'
import { answers, events, messageEvents } from './targets/answers.ts'
import { bodies } from './targets/bodies.ts'
import { encodings } from './targets/encodings.ts'
import { files } from './targets/files.ts'
import { headers } from './targets/headers.ts'
import { heavy } from './targets/heavy.ts'
import { blocks, items } from './targets/items.ts'
import { paths } from './targets/paths.ts'
import { rushes } from './targets/rushes.ts'
import { smuggling } from './targets/smuggling.ts'
import { stores } from './targets/stores.ts'

/** Everything that is fed bad input, in the order in which it is tried. */
export const targets: readonly FuzzTarget[] = [
  bodies,
  items,
  blocks,
  agents,
  messageAgents,
  answers,
  events,
  messageEvents,
  encodings,
  heavy,
  headers,
  rushes,
  smuggling,
  paths,
  files,
  stores,
  admin,
]
