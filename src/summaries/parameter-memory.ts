import { LRUCache } from 'lru-cache'

/**
 * A field that a model does not take, or a way of asking. `system-role`: its instructions go into the user's message.
 * `warm`: it is not asked at the end of the conversation itself.
 */
export type Rejection =
  | { readonly kind: 'field'; readonly name: string }
  /** The room for thoughts is more output than the model may give. */
  | { readonly kind: 'reasoning-tokens' }
  | { readonly kind: 'system-role' }
  | { readonly kind: 'warm' }

/** Which parameters an upstream's model rejected by name. Only what is not tried again is kept: no content, no credential. */
export type ParameterMemory = {
  readonly rejectedBy: (key: string) => readonly Rejection[]
  readonly remember: (key: string, rejection: Rejection) => void
}

/** A key says upstream, model, and whatever else decides what is accepted there. */
export function createParameterMemory({
  modelsMax = 512,
}: { readonly modelsMax?: number } = {}): ParameterMemory {
  const known = new LRUCache<string, readonly Rejection[]>({ max: modelsMax })
  const rejectedBy = (key: string): readonly Rejection[] => known.get(key) ?? []
  return {
    rejectedBy,
    remember: (key, rejection) => {
      known.set(key, [...rejectedBy(key), rejection].slice(-REJECTIONS_MAX))
    },
  }
}

// --- internal ---

/** No request has so many parameters. */
const REJECTIONS_MAX = 32
