import { onTestFinished } from 'vitest'
import { redisProgram, redisServer, withoutRedis } from '../support/redis-server.ts'
import { summariesOnOneStore } from './summaries-on-one-store.ts'

summariesOnOneStore(`one Redis${withoutRedis}`, redisProgram !== undefined, async () => {
  const server = await redisServer()
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.url
})
