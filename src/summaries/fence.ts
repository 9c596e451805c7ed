import type { Digest } from '../conversation/source.ts'

/**
 * A word by which data are fenced: a digest of them, which nothing among them can hold, so that whatever they say
 * they cannot end their fence.
 */
export function fenceKey(data: string, digest: Digest): string {
  for (let attempt = 0; ; attempt += 1) {
    const key = `${digest(`${attempt}:${data}`).slice(0, KEY_CHARS)}${attempt === 0 ? '' : `-${attempt}`}`
    if (!data.includes(key)) return key
  }
}

/** Data between tags that nothing among them can write. */
export function fenced(name: string, key: string, data: string): string {
  return `<${name}-${key}>\n${data}\n</${name}-${key}>`
}

// --- internal ---

/** 72 bits of a base64url digest: nobody finds a text that holds its own. */
const KEY_CHARS = 12
