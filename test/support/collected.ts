import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Whether nothing keeps this in memory any more, within a second. */
export async function isCollected(left: WeakRef<object>): Promise<boolean> {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('garbage cannot be collected here')
  for (let looks = 0; looks < 20; looks += 1) {
    collect()
    // Whoever looks keeps it for as long as the look takes.
    if (left.deref() === undefined) return true
    await sleep(50)
  }
  return false
}
