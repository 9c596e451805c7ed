import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** What a file begins with. Its first line tells it from whatever else lies in the folder under a name of that form. */
export function titleOf(conversation: string): string {
  return `${firstLine(conversation)}\nWhat was taken out of its prompts or shortened there, word for word. #1 is its first message behind the leading system messages.\n`
}

/** Whether a file is that of this conversation. Rejects where it cannot be read. */
export async function isTitled(path: string, conversation: string): Promise<boolean> {
  const line = Buffer.from(firstLine(conversation))
  // Without O_NONBLOCK a pipe would be waited for; where there are no links of this kind both are undefined.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(line.length), 0, line.length, 0)
    return buffer.subarray(0, bytesRead).equals(line)
  } finally {
    await file.close()
  }
}

// --- internal ---

function firstLine(conversation: string): string {
  return `# Conversation ${conversation}\n`
}
