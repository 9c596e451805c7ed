import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../docs/pages.ts'

/** What opens a connection, or loads what does. */
const connecting =
  /\bfrom '(?:undici|node:(?:https?|http2|net|tls|dgram|dns)[^']*)'|\bimport\('(?:undici|node:|openai|@opentelemetry\/exporter)|\bfetch\(|\bnew WebSocket\b/

/** Who does, and to whom. */
const known: Readonly<Record<string, string>> = {
  'commands/health.ts': '`foldgate health`, to its own listener',
  'demo/chat-client.ts': '`foldgate demo`, to itself',
  'demo/demo-upstream.ts': 'a listener of `foldgate demo`',
  'http/node-server.ts': 'a listener',
  'stores/redis-connection.ts': 'the store in the settings',
  'stores/redis-store.ts': 'the store in the settings',
  'activity/tracing/exporters.ts': 'the collector that OTEL_… variables name',
  'commands/run-attached.ts': '`foldgate run --attach`, to a Foldgate of its user',
  'launch/running.ts': 'the same; where the port of its clients is taken, to what has it',
  'upstream/address.ts': 'none: it reads addresses',
  'upstream/connector.ts': 'the upstreams in the settings',
  'upstream/pools.ts': 'the upstreams in the settings',
  'upstream/stale-connection.ts': 'none: it knows errors',
}

test('nothing in the source opens a connection but to upstreams, store and collector of the settings', async () => {
  const names = await readdir(join(root, 'src'), { recursive: true })
  const found: string[] = []
  for (const name of names.filter((each) => each.endsWith('.ts'))) {
    const text = await readFile(join(root, 'src', name), 'utf8')
    const lines = text.split('\n').filter((line) => !line.startsWith('import type '))
    if (lines.some((line) => connecting.test(line))) found.push(name)
  }
  expect(found.filter((name) => known[name] === undefined)).toEqual([])
})
