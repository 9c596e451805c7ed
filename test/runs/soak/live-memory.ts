/**
 * What a process holds and cannot give up, in megabytes: its heap after a full collection, and the buffers beside it.
 * Resident memory says less: a heap may grow to a multiple of what lives in it before it is collected. `inspector` is
 * the address that Node's inspector prints.
 */
export async function liveMegabytes(inspector: string): Promise<number> {
  const socket = new WebSocket(inspector)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error(`Nobody answers at ${inspector}.`)))
  })
  await ask(socket, 'HeapProfiler.collectGarbage')
  const used = await ask(socket, 'Runtime.getHeapUsage')
  socket.close()
  return (Number(used['usedSize']) + Number(used['backingStorageSize'])) / 1024 / 1024
}

// --- internal ---

type Answer = { readonly id: number; readonly result: Readonly<Record<string, unknown>> }

/** One question at a time. */
function ask(socket: WebSocket, method: string): Promise<Answer['result']> {
  return new Promise((resolve) => {
    socket.addEventListener(
      'message',
      ({ data }) => {
        const answer: Answer = JSON.parse(String(data))
        resolve(answer.result)
      },
      { once: true },
    )
    socket.send(JSON.stringify({ id: 1, method }))
  })
}
