import { readFile, stat } from 'node:fs/promises'

/** The text of a file, or why it cannot be read, as the end of "the file …". */
export type TextRead =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** Reads a UTF-8 file of at most `bytesMax` bytes, without a byte order mark. Never throws. */
export async function readText(path: string, bytesMax: number): Promise<TextRead> {
  try {
    const { size } = await stat(path)
    if (size > bytesMax) return { kind: 'unreadable', reason: `is larger than ${bytesMax} bytes` }
    const bytes = await readFile(path)
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' }
    return { kind: 'unreadable', reason: reasons[code] ?? `cannot be read (${code})` }
  }
}

/** The system's code for an error (`ENOENT`), or `unknown`. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'unknown'
}

// --- internal ---

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'may not be read by this user',
  EISDIR: 'is a folder',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is no UTF-8 text',
}
