import type { Store } from '../../src/storage/store.ts'

/** Writes one value. */
export const putValue = (
  store: Pick<Store, 'put'>,
  key: string,
  value: string,
  group?: string,
): Promise<void> => store.put([{ key, value, ...(group !== undefined && { group }) }])
