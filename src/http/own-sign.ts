/** By this header a probe's answer is known as a Foldgate's: many programs say at such a path that they are well. */
export const ownSign = { server: 'foldgate' } as const
