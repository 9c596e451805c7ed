import { hash, randomBytes } from 'node:crypto'

/** Secrets by what they are: `adminToken`. */
export type Secrets = Readonly<Record<string, string>>

/** Something in which no secret may stand: a file, an answer, what was logged. */
export type Haystack = { readonly name: string; readonly bytes: Buffer }

/** A secret that nothing else has twelve characters of, with the characters that each way of writing it spells its own. */
export const madeSecret = (prefix: string): string =>
  `${prefix}-${randomBytes(18).toString('base64')}+/~${randomBytes(12).toString('base64url')}=`

/** What is found of secrets, as `adminToken (in base64) in standard output`, each once. */
export function findSecrets(secrets: Secrets, haystacks: readonly Haystack[]): readonly string[] {
  const needles = Object.entries(secrets).flatMap(([what, secret]) =>
    formsOf(secret).map(({ form, needle }) => ({ what: `${what} (${form})`, needle })),
  )
  // Thousands of needles, and files of megabytes: each byte is looked at once.
  const byBeginning = Map.groupBy(needles, ({ needle }) => beginningAt(needle, 0))
  const begins = new Uint8Array(1 << (8 * BEGINNING_BYTES))
  for (const beginning of byBeginning.keys()) begins[beginning] = 1
  return haystacks.flatMap(({ name, bytes }) => {
    const found = new Set<string>()
    for (let at = 0; at + SLICE_CHARS <= bytes.length; at += 1) {
      const beginning = beginningAt(bytes, at)
      if (begins[beginning] === 0) continue
      for (const { what, needle } of byBeginning.get(beginning) ?? []) {
        if (bytes.subarray(at, at + needle.length).equals(needle)) found.add(what)
      }
    }
    return Array.from(found, (what) => `${what} in ${name}`)
  })
}

/** So many characters of a secret are one too many. */
const SLICE_CHARS = 12

/** A beginning is so many bytes of a needle, as a number. */
const BEGINNING_BYTES = 3

const beginningAt = (bytes: Buffer, at: number): number => bytes.readUIntBE(at, BEGINNING_BYTES)

/** All ways in which a secret may have got somewhere. */
function formsOf(secret: string): readonly { readonly form: string; readonly needle: Buffer }[] {
  const bytes = Buffer.from(secret)
  const texts: [string, string][] = [
    ...slices(secret, 1).map((slice): [string, string] => ['as it is', slice]),
    ...slices(encodeURIComponent(secret), 1)
      .filter((slice) => slice.includes('%'))
      .map((slice): [string, string] => ['URL-encoded', slice]),
    ...slices(secret, SLICE_CHARS).flatMap((slice): [string, string][] => [
      ['in hexadecimal', Buffer.from(slice).toString('hex')],
      ['in hexadecimal', Buffer.from(slice).toString('hex').toUpperCase()],
      ['percent-encoded', percentEncoded(slice)],
      ['in UTF-16', Buffer.from(slice, 'utf16le').toString('latin1')],
    ]),
    ...[0, 1, 2].flatMap((shift) => base64Within(bytes, shift)),
  ]
  const digests = ['sha256', 'sha1', 'md5', 'sha512'].flatMap((algorithm) =>
    // As programs are tempted to: a key to find it by.
    [secret, `Bearer ${secret}`].flatMap((text) => {
      const digest = hash(algorithm, text, 'buffer')
      return [
        digest.subarray(0, 8).toString('hex'),
        digest.toString('base64').slice(0, SLICE_CHARS),
        digest.toString('base64url').slice(0, SLICE_CHARS),
        digest.subarray(0, SLICE_CHARS).toString('latin1'),
      ].map((needle): [string, string] => [`as its ${algorithm}`, needle])
    }),
  )
  return [...texts, ...digests].map(([form, text]) => ({ form, needle: Buffer.from(text, 'latin1') }))
}

/** Every slice of so many characters; the last one ends where the text does. */
function slices(text: string, step: number): readonly string[] {
  const last = Math.max(0, text.length - SLICE_CHARS)
  const starts = new Set([last])
  for (let at = 0; at < last; at += step) starts.add(at)
  return Array.from(starts, (at) => text.slice(at, at + SLICE_CHARS))
}

/** What stands for it in the base64 of a longer text, in which it begins so many bytes behind a boundary. */
function base64Within(bytes: Buffer, shift: number): [string, string][] {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes])
  const from = Math.ceil((shift * 8) / 6)
  const to = Math.floor((whole.length * 8) / 6)
  return (['base64', 'base64url'] as const).flatMap((encoding) =>
    slices(whole.toString(encoding).slice(from, to), SLICE_CHARS).map((slice): [string, string] => [
      'in base64',
      slice,
    ]),
  )
}

const percentEncoded = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
