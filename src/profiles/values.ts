import { z } from 'zod'

/**
 * The kinds of value that profile keys take. Each refuses with a phrase that completes the sentence
 * `"key" must be …`, which is how `issues.ts` tells the reader.
 */

/** A longer glob is a mistake; it also bounds the work of one match. */
const globCharactersMax = 256

export const glob = z
  .string({ error: 'text (a name, or a pattern with * and ?)' })
  .min(1, { error: 'a name or a pattern, not empty text' })
  .max(globCharactersMax, { error: `at most ${globCharactersMax} characters` })

const shareOrTokensPhrase = 'a ratio above 0 and up to 1, or a whole number of tokens above 1'

/** Up to 1 a ratio, above 1 tokens. A fraction of a token can only be a slip. */
const isShareOrTokens = (value: number): boolean => value > 0 && (value <= 1 || Number.isInteger(value))

export const shareOrTokens = z
  .number({ error: shareOrTokensPhrase })
  .gt(0, { error: shareOrTokensPhrase, abort: true })
  .refine(isShareOrTokens, { error: shareOrTokensPhrase })

const shareOrTokensOrOffPhrase = `${shareOrTokensPhrase}, or off`

export const shareOrTokensOrOff = z
  .union([z.number().gt(0), z.literal('off')], { error: shareOrTokensOrOffPhrase })
  .refine((value) => value === 'off' || isShareOrTokens(value), { error: shareOrTokensOrOffPhrase })

const passStartPhrase = `null (with the trigger), 0 (at once), ${shareOrTokensPhrase}`

/** Where a pass begins: null follows the trigger, 0 is from the first time a message is sent. */
export const passStart = z
  .number({ error: passStartPhrase })
  .min(0, { error: passStartPhrase, abort: true })
  .refine((value) => value === 0 || isShareOrTokens(value), { error: passStartPhrase })
  .nullable()
  .default(null)
  .describe('Where it begins: ratio or tokens; null: the trigger; 0: at once.')

/** Larger numbers of tokens, messages or characters are slips. */
const countMax = 1_000_000_000

/** A whole number of `unit` from `minimum` up. */
export const count = (unit: string, minimum = 0, maximum = countMax) => {
  const error = `a whole number of ${unit} from ${minimum} to ${maximum}`
  return z.int({ error }).min(minimum, { error }).max(maximum, { error })
}

/** A number from `minimum` to `maximum`, both included. */
export const numberWithin = (what: string, minimum: number, maximum: number) => {
  const error = `${what} from ${minimum} to ${maximum}`
  return z.number({ error }).min(minimum, { error }).max(maximum, { error })
}

export const onOff = z.boolean({ error: 'true or false' })

/** One of the words, spelt as given. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `one of ${words.join(', ')}` })

export const shortText = (what: string) =>
  z.string({ error: `text: ${what}` }).min(1, { error: `${what}, not empty text` })

/** A group of keys; others are problems. */
export const group = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    // Unknown keys are told one by one by `issues.ts`.
    error: (issue) => (issue.code === 'invalid_type' ? 'a group of keys' : undefined),
  })

/** A group that may be left out as a whole, since each of its keys may, with what it is for. */
export function section<Shape extends z.core.$ZodLooseShape>(
  meaning: string,
  shape: Shape,
): z.ZodPrefault<z.ZodObject<Shape, z.core.$strict>>
export function section(meaning: string, shape: z.core.$ZodLooseShape) {
  return group(shape).prefault({}).describe(meaning)
}

/** A key that may be null, and is where it is left out, with what it means. */
export function orNull<Schema extends z.ZodType>(
  schema: Schema,
  meaning: string,
): z.ZodDefault<z.ZodNullable<Schema>>
export function orNull(schema: z.ZodType, meaning: string) {
  return schema.nullable().default(null).describe(meaning)
}

/** A header's name, as HTTP spells it (RFC 9110, 5.6.2). */
export const headerName = z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, {
  error: "a header's name: letters, digits and - only",
})

/** A value that goes into a request as it is. */
export const jsonValue = z.unknown().refine(isJson, { error: 'a value that JSON can carry' })

// --- internal ---

// YAML has numbers that JSON has not.
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isJson)
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isJson)
  return value === null || typeof value === 'string' || typeof value === 'boolean'
}
