import { afterAll, beforeAll, describe } from 'vitest'
import { openRedisStore } from '../../src/stores/redis-store.ts'
import { storeContract } from '../contracts/store-contract.ts'
import { redisProgram, redisServer, withoutRedis, type RedisServer } from '../support/redis-server.ts'

describe.skipIf(redisProgram === undefined)(`a Redis-compatible server${withoutRedis}`, () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await redisServer()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  storeContract('the Redis store', async (limits) => {
    await server.ask('FLUSHALL')
    return openRedisStore({ url: server.url, ...limits })
  })
})
