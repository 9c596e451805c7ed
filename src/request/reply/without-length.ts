/** Headers, name and value by turns, of an answer whose body is not the one whose length and digest they state. */
export function withoutLength(rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 1 || ofTheBody.has(name.toLowerCase()) ? [] : [name, rawHeaders[at + 1] ?? ''],
  )
}

// --- internal ---

const ofTheBody: ReadonlySet<string> = new Set(['content-length', 'content-md5', 'digest', 'etag'])
