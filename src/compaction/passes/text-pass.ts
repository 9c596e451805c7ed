import type { Pausable } from '../../json/source.ts'
import type { Profile } from '../../profiles/schema.ts'

/**
 * A pass that writes the texts of tool results anew, the oldest first. Its settings stand in profiles under its name, and `at`
 * among them says when it begins; records say under its name how far it has reached.
 */
export type TextPass = {
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
