import type { Profile } from '../../profiles/schema.ts'
import { preview } from './preview.ts'
import { render } from './render.ts'

/**
 * The passes over the texts of tool results. A text stands under the last of them that treats it, which is given what those
 * before it leave that lose nothing: they come first.
 */
export const textPasses = [render, preview] as const

export type TextPassName = (typeof textPasses)[number]['name']

export type TextTreatment = (typeof textPasses)[number]['treatment']

/** All passes, cheapest first. */
export const passOrder = [...textPasses.map(({ name }) => name), 'clear', 'fold', 'clip'] as const

export type PassName = (typeof passOrder)[number]

/** The passes of which records say how far they have reached: `clear` has reached something only in those of earlier releases. */
export const reachingPasses = [...textPasses.map(({ name }) => name), 'clear'] as const

/** How far passes have reached: the messages before this index. One that does not stand in it has reached none. */
export type Reach = Readonly<Partial<Record<(typeof reachingPasses)[number], number>>>

/** Whether a message was made by a pass that leaves out nothing of its text. */
export function isLossless(treatment: string | null): boolean {
  return textPasses.some((pass) => pass.treatment === treatment && !pass.losesText)
}

/** Whether a pass edits some results before there is any compaction. */
export function runsAlways(profile: Profile): boolean {
  return textPasses.some(({ name, treats }) => profile[name].at === 0 && treats(profile, Infinity))
}

/** The last pass that treats a result of so many tokens; null where none does. */
export function textPassAt(profile: Profile, reach: Reach, index: number, sizeTokens: number) {
  const isReached = (name: TextPassName): boolean => profile[name].at === 0 || index < (reach[name] ?? 0)
  return textPasses.findLast(({ name, treats }) => isReached(name) && treats(profile, sizeTokens)) ?? null
}

/** The settings of these passes without their own beginnings: they begin with the trigger. */
export function withoutStarts(profile: Profile): Pick<Profile, TextPassName> {
  return { render: { ...profile.render, at: null }, preview: { ...profile.preview, at: null } }
}
