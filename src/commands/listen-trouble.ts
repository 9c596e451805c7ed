import { onThisMachine, type ListenAddress, type ListenError } from '../http/listen.ts'
import { addressOf } from '../http/listeners.ts'
import { answers } from '../launch/running.ts'

/** Why clients cannot be listened to at an address. Where a Foldgate has it, that one is asked for its sign. */
export async function listenTrouble(error: ListenError, address: ListenAddress): Promise<string> {
  if (!error.isTaken) return error.message
  const origin = addressOf(onThisMachine(address))
  if (!(await answers(origin))) return error.message
  return (
    `Port ${address.port} on ${address.host} is taken: a Foldgate listens there already, with its own settings. ` +
    `Use that one (${origin}/v1, or foldgate run --attach --port ${address.port} -- COMMAND), or choose another port with --port (FOLDGATE_PORT).`
  )
}
