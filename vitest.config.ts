import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Types are taken out once for all workers, as for the programs that tests start.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/foldgate', import.meta.url))

/**
 * What has a command of its own, and is no part of `npm test`: the folder says it. `test/programs` starts programs,
 * `test/runs` holds what measures and takes long.
 */
const apart = {
  faults: ['test/runs/faults/**/*.test.ts'],
  page: ['test/runs/page/**/*.test.ts'],
  secrets: ['test/runs/secrets/**/*.test.ts'],
  // These two need what their commands install.
  clients: ['test/clients/*.test.ts'],
  examples: ['test/examples/*.test.ts'],
}

/** Tests that start programs of their own, and those of the programs that measure: `npm run programs`. */
const programs = ['test/programs/**/*.test.ts', 'test/runs/**/*.test.ts']

/** Tests that start programs wait more than they work: first, so that none of them is left waiting alone at the end. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const waits = ({ moduleId }: TestSpecification): boolean =>
      /\/test\/(?:programs|runs\/attacks)\//.test(moduleId)
    return [...sorted.filter(waits), ...sorted.filter((file) => !waits(file))]
  }
}

/** Node 22 does not know the word `using`, which stays when types are taken out: there vitest has to write it otherwise. */
function knowsUsing(): boolean {
  return Number(process.versions.node.split('.', 1)[0]) >= 24
}

/** Packages bring tests of their own. */
const installed = ['**/node_modules/**']

export default defineConfig({
  test: {
    // Of a test that hangs, not of one that waits its turn on a busy machine.
    testTimeout: 120_000,
    // What is waited for comes at once, but not within vitest's own second where all cores are busy with other tests.
    expect: { poll: { timeout: 30_000 } },
    setupFiles: ['test/support/property-seed.ts'],
    pool: 'forks',
    // Tests make much that is soon gone: with the room that V8 gives by default, an eighth of the processor time goes to
    // collecting it.
    execArgv: ['--max-semi-space-size=64'],
    // Node loads the modules itself, as it does for the program: what vitest makes of them instead runs a sixth slower.
    // No test needs it, since none replaces a module.
    experimental: { viteModuleRunner: !knowsUsing(), nodeLoader: false },
    // A process for each file would spend a third of the time on loading the same modules. So no test changes what is
    // global without putting it back.
    isolate: false,
    // Many tests wait for processes and servers: as many workers as there are cores leave them idle.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: WaitingFirst },
    projects: [
      project('promises', ['test/**/*.test.ts'], [...installed, ...programs, ...Object.values(apart).flat()]),
      project('programs', programs, [...installed, ...Object.values(apart).flat()]),
      ...Object.entries(apart).map(([name, include]) => project(name, include)),
    ],
  },
})

/** Tests that one command runs: `npm test`, `npm run faults` and so on. */
function project(name: string, include: string[], exclude: string[] = []) {
  return { extends: true as const, test: { name, include, exclude } }
}
