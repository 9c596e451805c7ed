/**
 * A server that swallows whatever comes and answers with a small completion, as a process of its own, so that it takes no
 * time from whoever measures. Its port is its argument.
 */
import { createServer } from 'node:http'

createServer({ keepAliveTimeout: 600_000 }, (incoming, outgoing) => {
  incoming.resume()
  incoming.on('end', () => {
    outgoing.writeHead(incoming.method === 'POST' ? 200 : 404, { 'content-type': 'application/json' })
    outgoing.end(incoming.method === 'POST' ? COMPLETION : '{}')
  })
}).listen(Number(process.argv[2]), '127.0.0.1')

const COMPLETION = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
})
