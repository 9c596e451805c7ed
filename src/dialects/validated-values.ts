import { LRUCache } from 'lru-cache'

/** Hashes of large values that are known to be JSON, so that they are not parsed again. */
export type ValidatedValues = {
  readonly has: (hash: string) => boolean
  readonly add: (hash: string) => void
}

/** A memo of the `entriesMax` most recently seen values, kept apart by scope. */
export function createValidatedValues({
  entriesMax,
}: {
  readonly entriesMax: number
}): (scope: string) => ValidatedValues {
  const memo = new LRUCache<string, true>({ max: entriesMax })
  return function validatedValuesOf(scope) {
    return {
      has: (hash) => memo.get(`${hash} ${scope}`) === true,
      add: (hash) => void memo.set(`${hash} ${scope}`, true),
    }
  }
}
