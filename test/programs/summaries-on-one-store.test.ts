import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder, type OnEnd } from '../config/temporary-folder.ts'
import type { Agent } from '../pipeline/summaries/growing-agent.ts'
import { summaryStand, type SummaryStand } from '../pipeline/summaries/summary-stand.ts'
import { eventually } from '../support/eventually.ts'
import { redisProgram, redisServer, withoutRedis } from '../support/redis-server.ts'
import { serve, settingsFolder } from './program.ts'

/** Stores that processes may share: `open` gives the address of an empty one. */
const stores = [
  {
    name: 'one SQLite file',
    isThere: true,
    open: async (onEnd: OnEnd) => `sqlite:${join(await temporaryFolder({}, onEnd), 'shared.sqlite')}`,
  },
  {
    name: `one Redis${withoutRedis}`,
    isThere: redisProgram !== undefined,
    open: async (onEnd: OnEnd) => {
      const server = await redisServer()
      onEnd(() => server[Symbol.asyncDispose]())
      return server.url
    },
  },
]

// What several Foldgates in processes of their own owe that share a store. All at the same time, since the lease of one
// that is killed takes long to run out.
describe.concurrent.each(stores)('two processes on $name', ({ isThere, open }) => {
  test.runIf(isThere)(
    'where the writer is killed, another finishes, and a restart changes no byte',
    async ({ onTestFinished }) => {
      await using stand = await summaryStand({
        model: { quality: (_, index) => (index === 0 ? 'hang' : 'good') },
      })
      const store = await open(onTestFinished)
      const [first, second] = await processes(stand, store, 2, onTestFinished)
      if (first === undefined || second === undefined) throw new Error('two were started')
      const agent = stand.agent()
      await untilPending(agent, first.url)
      await eventually(() => expect(stand.model.calls).toHaveLength(1))
      first.child.kill('SIGKILL')
      await first.ended
      // It asks, and waits until the lease of the dead one is over.
      await agent.again({ url: second.url })
      await eventually(() => expect(stand.model.calls).toHaveLength(2))
      await stand.model.quiet()
      let compacted = await agent.turn({ url: second.url })
      for (let turns = 0; turns < 40 && compacted.action !== 'compacted'; turns += 1)
        compacted = await agent.turn({ url: second.url })
      expect(compacted.summary).toBe('ready')
      second.child.kill('SIGTERM')
      await second.ended
      const [third] = await processes(stand, store, 1, onTestFinished)
      const again = await agent.again({ url: third?.url ?? '' })
      expect(again.received).toEqual(compacted.received)
    },
  )
})

async function processes(stand: SummaryStand, store: string, count: number, onEnd: OnEnd) {
  const settings = {
    upstreams: { ...stand.upstreams, default: { url: stand.upstreamUrl } },
    store: { url: store },
    drain: { delay_s: 0, timeout_s: 5 },
  }
  const cwd = await settingsFolder(settings, stand.profile, onEnd)
  return Promise.all(Array.from({ length: count }, () => serve([], { cwd, onEnd })))
}

/** The agent goes on until the summary of its next compaction is being made; `turns` is bounded. */
async function untilPending(agent: Agent, url: string) {
  for (let turns = 0; turns < 40; turns += 1) {
    const turn = await agent.turn({ url })
    expect(turn.status).toBe(200)
    if (turn.summary === 'pending') return
  }
  throw new Error('no summary was asked for')
}
