import type { Row } from './fault.ts'

/** Rows that say the same as one, which names what met it: `any` where that is all that there are. */
export function merged(rows: readonly Row[], all: number): readonly Row[] {
  const groups = Map.groupBy(rows, ({ seen, recorded, lost }) => JSON.stringify([seen, recorded, lost]))
  return [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map((first) => ({
      ...first,
      met: group.length === all ? 'any' : group.map(({ met }) => met).join('; '),
    })),
  )
}
