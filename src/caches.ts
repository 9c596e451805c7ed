import { LRUCache } from 'lru-cache'

/** Keeps so many entries, the latest used. Unlike with `max`, room for all of them is not set aside before they come. */
export function lruCache<Value extends object | string | number | boolean>(
  entriesMax: number,
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 })
}

/** The same function that finds nothing twice: what it found is kept as long as the object that `keyOf` names. */
export function remembering<Given, Found extends object | string | boolean>(
  keyOf: (given: Given) => object,
  find: (given: Given) => Found,
): (given: Given) => Found {
  const known = new WeakMap<object, Found>()
  return (given) => {
    const key = keyOf(given)
    let found = known.get(key)
    if (found !== undefined) return found
    found = find(given)
    known.set(key, found)
    return found
  }
}
