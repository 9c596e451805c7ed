import { test } from 'vitest'
import { appendFileSync } from 'node:fs'
import { words, round } from '../../support/counting-server.ts'
import { chatOf, postChat, rawMessages } from '../post-chat.ts'
import { summaryStand } from './summary-stand.ts'
import { recapsIn, summariesIn } from './turns-until.ts'
const out = (line: string) => appendFileSync('/tmp/zz.txt', line + '\n')
const user = (content: string) => ({ role: 'user', content })
const rounds = (from: number, count: number) => Array.from({ length: count }, (_, index) =>
    round(from + index, `src/f${from + index}.ts: build BLD-${7000 + from + index} ended. ${words(950, index)}`)).flat()
test.each([undefined, { profile: { window: { tokens: 8000, output_reserve: 1000, ratio: 1 } } }])('t %j', async (opts) => {
  const requests: any[] = []
  await using stand = await summaryStand({ ...opts, script: (request: any, outgoing: any) => {
      requests.push(request)
      outgoing.writeHead(200, { 'content-type': 'application/json' })
      outgoing.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }] }))
  } } as any)
  const messages: any[] = [{ role: 'system', content: 'You repair programs.' }, user('Repair what the nightly run breaks.')]
  out('== ' + JSON.stringify(opts))
  async function say(more: any[]) {
    messages.push(...more)
    const r = await postChat(stand.url, chatOf(messages))
    await stand.model.quiet()
    const received = rawMessages(requests.at(-1))
    const kind = received.map((m) => m.includes('<conversation-summary>') ? 'S' : m.includes('<conversation-recap>') ? 'R' : ({ user: 'u', system: 's', assistant: 'a', tool: 't' } as any)[JSON.parse(m).role]).join('')
    out([r.action, r.header('x-foldgate-summary'), r.header('x-foldgate-summary-reason'), r.header('x-foldgate-tokens'), kind, stand.model.calls.length].join(' '))
  }
  for (let turn = 0; turn < 10; turn += 1) {
    await say(rounds(10 * turn + 1, 1)); await say(rounds(10 * turn + 2, 1))
    await say([{ role: 'assistant', content: 'Done.' }, user(`Turn ${turn}: go on with T-${turn}00.`)])
  }
  for (const c of stand.model.calls) out(`${c.status} ${c.promptTokens} ${[...c.text.matchAll(/"path":"src\/f(\d+)\.ts"/g)].map((f) => f[1])}`)
})
