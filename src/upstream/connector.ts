import { buildConnector } from 'undici'

/**
 * Opens connections for a pool, so that an answer whose end is the end of its connection is not taken for whole where
 * that connection was reset: undici forgives a reset there, since macOS reports one behind whole bodies too. What it
 * forgives by is the code of the error.
 */
export function connectorFor({ connectMs }: { readonly connectMs: number }): buildConnector.connector {
  const connect = buildConnector({ allowH2: false, timeout: connectMs })
  return function connectTo(options, callback) {
    connect(options, (...result) => {
      const [, socket] = result
      // Before undici's own listener, which is added by the callback.
      socket?.on('error', tellReset)
      callback(...result)
    })
  }
}

// --- internal ---

/** As undici calls a connection that the other side has closed. */
const CLOSED = 'UND_ERR_SOCKET'

function tellReset(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = CLOSED
}
