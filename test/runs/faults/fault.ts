import type { OnEnd } from '../../config/temporary-folder.ts'

/** What was observed of a fault, as a line of the table says it. */
export type Row = {
  /** What met it: a kind of request, or what was done. */
  readonly met: string
  readonly seen: string
  readonly recorded: string
  readonly lost: string
}

/** Something that goes wrong around Foldgate, and how to watch it go wrong. */
export type Fault = {
  /** What goes wrong, in words. */
  readonly name: string
  /** Makes it go wrong and tells what came of it, beside others. Rejects where a promise was broken. */
  readonly observe: (onEnd: OnEnd) => Promise<readonly Row[]>
  /** Why it cannot be made to go wrong here; null or absent where it can. */
  readonly impossible?: string | null
}

/** The faults of one thing that Foldgate depends on. */
export type Section = {
  readonly title: string
  /** What holds for all of them: settings, what is not shown. */
  readonly about: string
  readonly faults: readonly Fault[]
}

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
