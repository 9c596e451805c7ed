/**
 * A model that the upstream answers at once, as it does all but those of streams. Its window is known, as those of most
 * models are: of one that nobody knows Foldgate looks at each answer before it passes it on.
 */
export const PLAIN_MODEL = 'gpt-4o-mini'

/** A model that the upstream answers by such a stream: a fine-tuned one, whose window is known as well. */
export function streamModel(stream: { chunks: number; gapMs: number; silenceMs: number }): string {
  return `ft:${PLAIN_MODEL}:bench::stream-${stream.chunks}-${stream.gapMs}-${stream.silenceMs}`
}
