import type { Counts } from './counts.ts'

/** For whom nothing was ever answered: a model's family tells all that there is to know. */
export const nothingCounted: Pick<Counts, 'rateOf' | 'anchorAt'> = {
  rateOf: (_model, startingRatio) => ({
    ratio: startingRatio,
    overheadTokens: 0,
    overheadDoubtTokens: Infinity,
  }),
  anchorAt: () => null,
}
