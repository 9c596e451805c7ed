import { startFoldgate, type FoldgateOptions } from '../../subjects/foldgate.ts'
import type { Subject } from '../../subjects/subject.ts'

/** A window that every conversation of these measures outgrows, or not, in tokens. */
const WINDOW_TOKENS = 128_000

/** Foldgate with such a window (default: 128,000 tokens), so that longer conversations are compacted. */
export async function startCompactingFoldgate(
  upstreamOrigin: string,
  {
    store,
    checkout,
    windowTokens = WINDOW_TOKENS,
  }: Pick<FoldgateOptions, 'store' | 'checkout'> & { readonly windowTokens?: number } = {},
): Promise<Subject> {
  const subject = await startFoldgate({
    upstreamOrigin,
    // The ratio belongs to the model's name, and `plain` says nothing of its tokens.
    profile: { window: { tokens: windowTokens, encoding: 'o200k_base', ratio: 1 } },
    ...(store === undefined ? {} : { store }),
    ...(checkout === undefined ? {} : { checkout }),
  })
  return { ...subject, name: `Foldgate, ${store ?? 'sqlite:'}` }
}
