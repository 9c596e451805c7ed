import type { Socket } from 'node:net'
import type { Failing } from '../upstream-stand.ts'
import type { Play } from './raw-upstream.ts'

/** What is done to a connection. */
export type Act = (socket: Socket) => void

/** Ends it with a reset, at once. */
export const reset: Act = (socket) => void socket.resetAndDestroy()

/** Closes it, once what was written is on its way. */
export const end: Act = (socket) => void socket.end(() => socket.destroy())

/** Writes, and acts once that is on its way. */
export function after(bytes: string | Buffer, act: Act): Play {
  return (socket) => void socket.write(bytes, () => act(socket))
}

/** There is no answer that could be told. */
export function none(play: Play): Failing {
  return { play, owed: null, isAll: false }
}

/** What came of the answer is not all of it. */
export function part(owed: string, play: Play): Failing {
  return { play, owed, isAll: false }
}

/** What came is all that there is. */
export function all(owed: string, play: Play): Failing {
  return { play, owed, isAll: true }
}

/** Leaves the connection as it is. */
export const stay: Act = () => {}
