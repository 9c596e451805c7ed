import type { Store } from '../../src/stores/store.ts'

/** Writes one value. */
export function putValue(
  store: Pick<Store, 'put'>,
  key: string,
  value: string,
  group?: string,
): Promise<void> {
  return store.put([{ key, value, ...(group !== undefined && { group }) }])
}
