import type { Basis } from './figure.ts'

/*
 * What decides how far a statement goes, in one place. Three things speak:
 *
 * The figure's basis (figure.ts)   goes before     asked again after   is the size in force
 *   loaded                         all others      1 minute            yes
 *   to-be-loaded                   a catalogue     1 minute            once the model has answered
 *   to-be-loaded, isAssumed        a catalogue     10 seconds          it may well not be
 *   catalogue                      nothing         1 hour              no: another deployment may answer
 *   nothing was stated             nothing         1 minute
 *
 * The probe (plan.ts), before anything was answered:
 *   isCatalogue   whatever it states is a catalogue's figure
 *   isGuess       the server may well be of another kind: nonsense is no trouble
 *   isKept        its answer holds all models: one request serves them all, for as long as its figures hold
 *
 * The list of models (model-list.ts), once it was read:
 *   isTelling     it states windows: it is worth asking for again
 *   isLoaded      its figures are loaded sizes: it is kept as long as these hold
 *   isVolatile    it says which models are loaded: it is not kept at all
 *
 * A figure that is not confirmed any more ends: see known-window.ts.
 */

export const rankOf = { loaded: 0, 'to-be-loaded': 1, catalogue: 2 } as const satisfies Record<Basis, number>

/** For how long a figure is not asked again, in milliseconds. */
export const FRESH_MS = {
  /** Changes when somebody starts the server anew, which nobody tells us. */
  loaded: 60_000,
  'to-be-loaded': 60_000,
  /** Changes when a provider changes its mind. */
  catalogue: 3_600_000,
} as const satisfies Record<Basis, number>

/** Soon the model will be loaded and its server will know. */
export const ASSUMED_FRESH_MS = 10_000

/** A failure may pass, and a model may be loaded. */
export const UNKNOWN_FRESH_MS = 60_000

/** A catalogue does not change because a server refused: newer than this, it is not asked for again. */
export const CATALOGUE_REFRESH_AGE_MS = 600_000

/** How long a figure holds that nothing confirms any more. */
export const FIGURE_LIFE_MS = 24 * 3_600_000

/** So many answers in a row that state nothing end a figure: a single one may come from a server that just starts. */
export const MISSES_MAX = 2
