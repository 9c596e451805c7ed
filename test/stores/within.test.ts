import { createServer, connect } from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { NoAnswerError, within } from '../../src/stores/within.ts'

/** Holds the event loop, as a long computation does. */
function hold(milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

test('work that takes too long is given up', async () => {
  await expect(within(10, new Promise(() => {}))).rejects.toThrow(NoAnswerError)
})

// Two processes on one busy Redis both paid for the same summary: each had been held up for longer than the deadline, and
// took the store for absent though its answer lay in the socket.
test('an answer that came in time is taken, however long the event loop was held up', async () => {
  const server = createServer((socket) => socket.end('here')).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const answer = once(socket, 'data').then(([piece]) => String(piece))
  const waited = within(20, answer)
  // The server writes in one turn of the loop, and the answer is received while the next one is held.
  setImmediate(() => hold(60))
  expect(await waited).toBe('here')
})
