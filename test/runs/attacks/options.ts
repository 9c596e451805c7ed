import { parseArgs } from 'node:util'

export type AttackOptions = {
  /** Attacks with this in their names. */
  readonly only: string
  /** Of their full size, above 0. */
  readonly share: number
  /** Whether each is made once, by a client that nobody has seen. */
  readonly isColdOnly: boolean
  /** Whether it is looked where the longest turns spend their time, which makes all of them longer. */
  readonly isProfiled: boolean
}

/** Reads the arguments; a text that says what is wrong with them. */
export function readOptions(args: readonly string[]): AttackOptions | string {
  let values
  try {
    values = parseArgs({ args: [...args], options }).values
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const share = Number(values.share)
  if (!(share > 0 && share <= 1)) return '--share takes a number above 0, up to 1.'
  return { only: values.only, share, isColdOnly: values.cold, isProfiled: values.where }
}

// --- internal ---

const options = {
  only: { type: 'string', default: '' },
  share: { type: 'string', default: '1' },
  cold: { type: 'boolean', default: false },
  where: { type: 'boolean', default: false },
} as const
