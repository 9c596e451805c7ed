import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import { startProgram, type Started } from '../subjects/program.ts'

const program = fileURLToPath(new URL('upstream-program.ts', import.meta.url))

/** Starts the bench's upstream on the cores that the load runs on. */
export async function startUpstream(): Promise<Started> {
  const port = await freePort()
  return startProgram({
    command: [process.execPath, program, String(port)],
    port,
    probe: '/',
    isMeasured: false,
  })
}
