import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    pool: 'forks',
    // Many tests wait for processes and servers: a worker less than there are cores leaves them idle.
    maxWorkers: availableParallelism() + 1,
  },
})
