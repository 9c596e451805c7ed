import type { Command } from './command.ts'
import type { CommandName } from '../config/flags.ts'

/** How each command is loaded: one that serves need not load the demo. */
export const loadCommand: Readonly<Record<CommandName, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serve,
  demo: async () => (await import('./demo.ts')).demo,
  check: async () => (await import('./check.ts')).check,
  explain: async () => (await import('./explain.ts')).explain,
  health: async () => (await import('./health.ts')).health,
  purge: async () => (await import('./purge.ts')).purge,
}
