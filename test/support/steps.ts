export type Steps = {
  readonly heading: (text: string) => void
  /** Does it and says so; null where it failed. What it returns is said behind it. */
  readonly step: <Result>(title: string, work: () => Promise<Result> | Result) => Promise<Result | null>
  /** What a user of a terminal saw, as it stood there. */
  readonly record: (texts: readonly string[]) => void
  /** Something that this machine does not let us look at. */
  readonly unseen: (what: string) => void
  /** How it went, in one line; the exit code. */
  readonly end: () => number
}

/** The steps of a run, told one by one. One that fails is told with its reason, and the run goes on where it can. */
export function openSteps(write: (text: string) => void): Steps {
  let passed = 0
  let failed = 0
  const notSeen: string[] = []
  return {
    heading: (text) => write(`\n${text}\n`),
    step: async (title, work) => {
      const startedMs = performance.now()
      const took = () => `${((performance.now() - startedMs) / 1000).toFixed(1)} s`
      try {
        const result = await work()
        passed += 1
        write(`  ok      ${title}${typeof result === 'string' ? `: ${result}` : ''} (${took()})\n`)
        return result
      } catch (error) {
        failed += 1
        const reason = error instanceof Error ? error.message : String(error)
        write(`  FAILED  ${title} (${took()})\n${reason.replaceAll(/^/gm, '            ')}\n`)
        return null
      }
    },
    record: (texts) => write(`\n${texts.join('\n').replaceAll(/^/gm, '    | ')}\n\n`),
    unseen: (what) => {
      notSeen.push(what)
      write(`  unseen  ${what}\n`)
    },
    end: () => {
      const unseen = notSeen.length === 0 ? '' : `, ${notSeen.length} not to be seen on this machine`
      write(`\n${passed} passed, ${failed} failed${unseen}\n`)
      return failed === 0 ? 0 : 1
    },
  }
}
