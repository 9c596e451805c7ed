import type { Settings } from '../../config/settings.ts'
import type { BodyLimits } from '../../conversation/body-spans.ts'

/** What a body may hold to be read, by the settings. */
export function readLimits({ depth, elements, keys, messages, parts }: Settings['limits']): BodyLimits {
  return {
    depthMax: depth,
    elementsMax: elements,
    keysMax: keys,
    messagesMax: messages,
    partsMax: parts,
  }
}
