let uncaught: string[] = []

/** Keeps what nobody caught in this process, instead of ending it, so that the input that did it can be told. */
export function watchUncaught(): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      uncaught.push(`${event}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    })
  }
}

/** What nobody caught since this was last asked, once everything had its turn. */
export async function takeUncaught(): Promise<readonly string[]> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve)
  })
  const taken = uncaught
  uncaught = []
  return taken
}
