/** One thing that is run, and what it may stand beside. */
export type Step = {
  readonly name: string
  /** As a person would type it. */
  readonly command: readonly string[]
  /** Vitest tells each of its tests; another command counts as one. */
  readonly isVitest: boolean
  /** It measures: nothing else runs meanwhile. */
  readonly isAlone: boolean
  /** It waits for these: what one installs, others use. */
  readonly after: readonly string[]
  /** Variables that it is run with. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * All that is run, what fails soonest first. A run that `.ci/runs.json` knows is left out where nothing that wakes it has
 * changed since it last passed.
 */
export const steps: readonly Step[] = [
  step('check'),
  // A fifth of the inputs is enough while a change is made.
  vitest('test', { command: ['npm', 'test'], env: { PROPERTY_RUNS: 'all' } }),
  vitest('programs'),
  vitest('secrets'),
  vitest('page'),
  step('demo'),
  vitest('examples'),
  vitest('faults'),
  step('image'),
  step('package'),
  // Both install what the clients need.
  vitest('clients', { after: ['package'] }),
  step('rules'),
  step('servers'),
  step('usage'),
  // The same inputs each time: what a machine is busy with decides how many of them.
  step('fuzz', { arguments: ['--seed', '1'] }),
  step('attacks', { arguments: ['--cold'], isAlone: true }),
  step('soak', { arguments: ['--seed', '1'], isAlone: true }),
]

// --- internal ---

type StepOptions = Partial<Omit<Step, 'name' | 'isVitest'>> & { readonly arguments?: readonly string[] }

function step(name: string, options: StepOptions = {}): Step {
  const given = options.arguments === undefined ? [] : ['--', ...options.arguments]
  return {
    name,
    command: options.command ?? ['npm', 'run', name, ...given],
    isVitest: false,
    isAlone: options.isAlone ?? false,
    after: options.after ?? [],
    env: options.env ?? {},
  }
}

function vitest(name: string, options: StepOptions = {}): Step {
  return { ...step(name, options), isVitest: true }
}
