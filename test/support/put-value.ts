import type { Store } from '../../src/stores/store.ts'

/** Writes one value. */
export const putValue = (
  store: Pick<Store, 'put'>,
  key: string,
  value: string,
  group?: string,
): Promise<void> => store.put([{ key, value, ...(group !== undefined && { group }) }])
