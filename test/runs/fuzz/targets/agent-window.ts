/** The window that an agent's model has, and is told to have. */
export const AGENT_WINDOW_TOKENS = 5_000

/** Each word of letters is a token, and so is every other character but blanks. */
export function agentTokens(text: string): number {
  return text.match(/[a-z]+|[^\sa-z]/gi)?.length ?? 0
}
