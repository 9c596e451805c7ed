import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import { startProgram } from './program.ts'
import type { StartSubject } from './subject.ts'

const program = fileURLToPath(new URL('parse-hash-stringify-program.ts', import.meta.url))

/** A relay that parses every body, hashes each of its messages and writes the whole anew. */
export const startParseHashStringify: StartSubject = async (upstreamOrigin) => {
  const port = await freePort()
  const started = await startProgram({
    command: [process.execPath, program, upstreamOrigin, String(port)],
    port,
    probe: '/healthz',
  })
  return { name: 'parse, hash and stringify', ...started, headers: {} }
}
