import { profileSchema, type Profile } from '../../src/profiles/schema.ts'

/** A profile by which nothing can be measured: whoever looks for the encoding fails with this message. */
export function unmeasurable(profile: object, message: string): ReadonlyMap<string, Profile> {
  const parsed = profileSchema.parse(profile)
  const window = {
    ...parsed.window,
    get encoding(): never {
      throw new Error(message)
    },
  }
  return new Map([['default', { ...parsed, window, name: 'default' }]])
}
