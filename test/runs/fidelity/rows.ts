import type { ReplayedDialect } from '../replay/job.ts'
import { clearing, everything, headAndSuffix, middleOut, newestSuffix, type Policy } from './policies.ts'
import { wantsSummaries } from './wants-summaries.ts'

/** A row of the table: a Foldgate with this profile, or a policy of the client's own. */
export type Row =
  | { readonly kind: 'foldgate'; readonly name: string; readonly profile: object }
  | { readonly kind: 'policy'; readonly name: PolicyName }

export type PolicyName = keyof typeof policies

export const policies = {
  everything,
  'newest suffix': newestSuffix,
  'head, newest suffix': headAndSuffix,
  'middle out': middleOut,
  clearing,
} as const satisfies Record<string, Policy>

/**
 * The policies, then Foldgate's strategies, then the profiles that were given. In other APIs than chat completions those of
 * Foldgate's without summaries: clients' policies and the stand-in for a summary model speak chat completions.
 */
export function rowsOf(profiles: ReadonlyMap<string, object>, dialect: ReplayedDialect): readonly Row[] {
  const given: readonly (readonly [string, object])[] = [
    ['truncate', { strategy: 'truncate' }],
    ['summarize', { strategy: 'summarize' }],
    ...profiles,
  ]
  const foldgates = given.map(([name, profile]) => ({ kind: 'foldgate' as const, name, profile }))
  if (dialect !== 'chat-completions') return foldgates.filter(({ profile }) => !wantsSummaries(profile))
  return [...policyNames.map((name) => ({ kind: 'policy' as const, name })), ...foldgates]
}

// --- internal ---

// In the order of the table.
const policyNames: readonly PolicyName[] = [
  'everything',
  'newest suffix',
  'head, newest suffix',
  'middle out',
  'clearing',
]
