import type { Profile } from './schema.ts'

/** Whether models write summaries under a profile, not only recaps are made. */
export function hasSummaries({ strategy, summary }: Pick<Profile, 'strategy' | 'summary'>): boolean {
  if (summary.mode === 'off') return false
  return strategy === 'auto' ? summary.model !== null || summary.upstream !== null : strategy === 'summarize'
}
