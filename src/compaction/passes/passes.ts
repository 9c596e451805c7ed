import type { Pausable } from '../../json/source.ts'
import type { Profile } from '../../profiles/schema.ts'
import { renderTerminal } from '../terminal/render-terminal.ts'
import { previewText } from './preview.ts'

/**
 * A pass that writes the texts of tool results anew, the oldest first. Its settings stand in profiles under its name, and `at`
 * among them says when it begins; records say under its name how far it has reached.
 */
type TextPass = {
  readonly name: keyof Profile
  /** What became of a message that it changed, in journals, on pages and in `explain`. */
  readonly treatment: string
  /** Whether its texts say less afterwards: they get a mark, by which they can be read back. */
  readonly losesText: boolean
  readonly words: {
    /** One text that it treats, without an article: "1 large result previewed". */
    readonly result: string
    /** What its treatment means, for the page. */
    readonly meaning: string
    /** The same in a few words for a model that reads back. */
    readonly recalled: string
  }
  /** Whether a profile has it treat a text of so many tokens; of `Infinity`: whether it treats any. Larger ones sooner. */
  readonly treats: (profile: Profile, sizeTokens: number) => boolean
  /** The text anew, or the same if that would be no shorter. The same bytes every time, by its own settings alone. */
  readonly edited: (
    text: string,
    about: {
      readonly profile: Profile
      /** What the message takes as it came. */
      readonly sizeTokens: number
      /** By which it can be read back; null where it cannot. */
      readonly number: string | null
    },
  ) => Pausable<string>
}

/** Terminal output becomes what a terminal would show in the end. */
const render = {
  name: 'render',
  treatment: 'rendered',
  losesText: false,
  words: {
    result: 'output',
    meaning: 'terminal output, reduced to what a terminal would show in the end',
    recalled: 'terminal output tidied',
  },
  treats: ({ render: { enabled } }) => enabled,
  edited: (text) => renderTerminal(text),
} as const satisfies TextPass

/** Large results become their head and tail. */
const preview = {
  name: 'preview',
  treatment: 'previewed',
  losesText: true,
  words: {
    result: 'large result',
    meaning: 'a large result, of which only the beginning and the end were sent',
    recalled: 'middle left out',
  },
  treats: ({ preview: { threshold_tokens } }, sizeTokens) => sizeTokens >= threshold_tokens,
  *edited(text, { profile: { preview: bounds }, sizeTokens, number }) {
    // Texts may be long, and many: others may go on before each.
    yield
    return previewText(text, sizeTokens, { maxChars: bounds.max_chars, maxLines: bounds.max_lines }, number)
  },
} as const satisfies TextPass

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
