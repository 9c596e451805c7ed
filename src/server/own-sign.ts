import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** By this header a probe's answer is known as a Foldgate's: many programs say at such a path that they are well. */
export const ownSign = { server: 'foldgate' } as const

/** A challenge to prove that a process is the one that has written down a secret, and the answer to it. */
export const identityHeaders = { challenge: 'x-foldgate-challenge', proof: 'x-foldgate-proof' } as const

/** A text that nobody guesses, in base64url: the secret of a process, which its own user reads in its file, or a challenge. */
export function randomText(): string {
  return randomBytes(32).toString('base64url')
}

/** What only who knows the secret can answer to a challenge, at the port that he was asked at. */
export function proofOf(secret: string, challenge: string, port: number | undefined): string {
  return createHmac('sha256', secret).update(`${port} ${challenge}`).digest('base64url')
}

/** Compares in constant time, whatever the lengths. */
export function isSameSecret(presented: string, secret: string): boolean {
  return timingSafeEqual(hash('sha256', presented, 'buffer'), hash('sha256', secret, 'buffer'))
}
