import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import { startProgram } from './program.ts'
import type { Subject } from './subject.ts'

const program = fileURLToPath(
  new URL('../node_modules/@portkey-ai/gateway/build/start-server.js', import.meta.url),
)

/** Portkey's gateway as it is run in production: without its page, which would be told of every request. */
export async function startPortkey(upstreamOrigin: string): Promise<Subject> {
  const port = await freePort()
  const started = await startProgram({
    command: [process.execPath, program, `--port=${port}`, '--headless'],
    port,
    env: { NODE_ENV: 'production' },
    probe: '/',
  })
  return {
    name: 'Portkey',
    ...started,
    headers: { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstreamOrigin}/v1` },
  }
}
