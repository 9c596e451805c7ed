import { clearing, everything, headAndSuffix, middleOut, newestSuffix, type Policy } from './policies.ts'

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

/** The policies, then Foldgate's strategies, then the profiles that were given. */
export function rowsOf(profiles: ReadonlyMap<string, object>): readonly Row[] {
  const given: readonly (readonly [string, object])[] = [
    ['truncate', { strategy: 'truncate' }],
    ['summarize', { strategy: 'summarize' }],
    ...profiles,
  ]
  return [
    ...policyNames.map((name) => ({ kind: 'policy' as const, name })),
    ...given.map(([name, profile]) => ({ kind: 'foldgate' as const, name, profile })),
  ]
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
