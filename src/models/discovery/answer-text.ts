import type { Answer } from '../../upstream/upstreams.ts'

/** What a server answered to a question of ours. Null where it is too large. Rejects where it breaks off. */
export async function answerText({ body }: Answer): Promise<string | null> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > ANSWER_BYTES_MAX) return null
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}

// --- internal ---

/** OpenRouter's list, the largest known, is about 1 MB. Reading 4 MB as JSON takes some tens of milliseconds. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
