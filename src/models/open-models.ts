import type { Digest } from '../json/source.ts'
import type { Warnings } from '../telemetry/log/warnings.ts'
import type { StoreGuard } from '../storage/store-guard.ts'
import type { Store } from '../storage/store.ts'
import type { HeldKeyMark } from '../upstream/held-key-marks.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import { createAcceptedCredentials } from './accepted-credentials.ts'
import { createCounts } from './counts/counts.ts'
import { createServerWindows } from './discovery/server-windows.ts'
import { createLearning } from './learn.ts'
import { createModels } from './models.ts'
import { createWindows, type LearntWindow } from './windows.ts'

/** What is known of models at their upstreams, and how more of it is learnt. */
export type ModelKnowledge = ReturnType<typeof openModels>

/** `onLearnt` is called when a window was learnt that was not known. It must not throw. */
export function openModels(options: {
  readonly onLearnt: (lesson: LearntWindow) => void
  readonly upstreams: Upstreams
  readonly heldKeyMark: HeldKeyMark
  readonly store: Store
  readonly guarded: StoreGuard
  readonly warnings: Warnings
  readonly digest: Digest
  readonly nowMs: () => number
}) {
  const { warnings, onLearnt, heldKeyMark, upstreams } = options
  const models = createModels(options)
  const windows = createWindows({ models, onLearnt })
  const counts = createCounts({ models, promptsMax: PROMPTS_MAX })
  const serverWindows = createServerWindows({ upstreams, heldKeyMark, onTrouble: warnings.unasked })
  return {
    models,
    windows,
    counts,
    accepted: createAcceptedCredentials(models, heldKeyMark),
    serverWindows,
    learning: createLearning({ models, windows, counts, serverWindows, onCut: warnings.cut }),
  }
}

// --- internal ---

/** Prompts that providers have answered, remembered by digest: one for each request point of late. */
const PROMPTS_MAX = 20_000
