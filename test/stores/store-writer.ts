import { openSqliteStore } from '../../src/stores/sqlite-store.ts'
import { putValue } from '../support/put-value.ts'

// A process of its own that writes to a store until it is told to stop, or is killed: `node store-writer.ts FILE NAME COUNT`.
// Values name their key and repeat one letter, so that a torn one would show.
const [path = '', name = '', count = ''] = process.argv.slice(2)
const store = await openSqliteStore({ path, bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })
process.stdout.write('open\n')
for (let value = 0; value < Number(count); value += 1) {
  const key = `${name} ${value}`
  await putValue(store, key, `${key}:${'x'.repeat(20_000)}`, name)
  await store.putIfAbsent(`shared ${value}`, name)
  process.stdout.write(`${value}\n`)
}
await store.close()
