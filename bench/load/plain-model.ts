/**
 * A model that the upstream answers at once, as it does all but `stream-…`. Its window is known, as those of most models
 * are: of one that nobody knows Foldgate looks at each answer before it passes it on.
 */
export const PLAIN_MODEL = 'gpt-4o-mini'
