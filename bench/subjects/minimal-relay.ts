import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import { startProgram } from './program.ts'
import type { Subject } from './subject.ts'

const program = fileURLToPath(new URL('minimal-relay-program.ts', import.meta.url))

/** `buffered`: reads the whole body before it sends it, as whoever looks into it has to. */
export async function startMinimalRelay(upstreamOrigin: string, buffered = false): Promise<Subject> {
  const port = await freePort()
  const started = await startProgram({
    command: [process.execPath, program, upstreamOrigin, String(port), ...(buffered ? ['--buffered'] : [])],
    port,
    probe: '/healthz',
  })
  return { name: buffered ? 'buffered relay' : 'minimal relay', ...started, headers: {} }
}
