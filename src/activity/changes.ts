/** Tells who looks at the page that something has changed, and of which conversation. */
export type Changes = {
  readonly tell: (conversation: string | null) => void
  /** `listener` must not throw. Returns how to stop listening. */
  readonly listen: (listener: (conversation: string | null) => void) => () => void
  readonly listeners: () => number
}

export function createChanges(): Changes {
  const listeners = new Set<(conversation: string | null) => void>()
  return {
    tell: (conversation) => {
      for (const listener of listeners) listener(conversation)
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    listeners: () => listeners.size,
  }
}
