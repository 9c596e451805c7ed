/** Why a compaction was made, in plain words if the reason is one of our own. */
export function compactionReason(reason: string): string {
  return reasons[reason] ?? reason
}

// --- internal ---

const reasons: Readonly<Record<string, string>> = {
  trigger: 'pressure reached the trigger',
  every: 'so many turns or tool calls had passed',
  limit: 'there were more turns or messages than the limit',
  forced: 'it was asked for',
  overflow: 'the upstream said that it was too long',
}
