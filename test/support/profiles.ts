import { profileSchema, type Profile } from '../../src/profiles/schema.ts'

/** Profiles by their names, each as its file would say it. */
export const profilesOf = (files: Readonly<Record<string, object>>): Map<string, Profile> =>
  new Map(Object.entries(files).map(([name, file]) => [name, namedProfile(name, file)]))

export const namedProfile = (name: string, file: object = {}): Profile => ({
  ...profileSchema.parse(file),
  name,
})
