import { LRUCache } from 'lru-cache'

/** Keeps so many entries, the latest used. Unlike with `max`, room for all of them is not set aside before they come. */
export function lruCache<Value extends object | string | number | boolean>(
  entriesMax: number,
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 })
}
