import { adminPlace } from '../../admin/ask-admin.ts'
import { startFoldgate, type FoldgateOptions, type RunningFoldgate } from '../../support/foldgate.ts'

/** A Foldgate whose operator looks on. */
export type Watched = { readonly foldgate: RunningFoldgate; readonly adminOrigin: string }

/** Starts it with an admin listener, on another port where somebody else was faster. */
export async function startWatched(options: FoldgateOptions): Promise<Watched> {
  for (let attempt = 1; ; attempt += 1) {
    const admin = await adminPlace()
    const foldgate = await startFoldgate({ ...options, flags: { ...options.flags, ...admin.flags } })
    const trouble = foldgate.listening.adminTrouble
    if (trouble === null) return { foldgate, adminOrigin: admin.origin }
    await foldgate.close()
    if (attempt === ATTEMPTS_MAX) throw new Error(trouble)
  }
}

// --- internal ---

const ATTEMPTS_MAX = 5
