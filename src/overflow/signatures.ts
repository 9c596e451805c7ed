import type { OverflowSignature } from './signature.ts'
import { hostedSignatures } from './signatures-hosted.ts'
import { serverSignatures } from './signatures-servers.ts'

/** What several servers' wordings have in common; tried last. */
const sharedSignatures: readonly OverflowSignature[] = [
  {
    provider: 'anyone, window stated',
    pattern: /maximum context length (?:is|of) (?<window>\d[\d,._]*) tokens/i,
    sample: "Request rejected: this model's maximum context length is 8192 tokens.",
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'anyone, nothing stated',
    pattern:
      /exceed(?:s|ed|ing)? (?:the |this )?(?:model's |model )?(?:maximum |max |available |allowed )?context (?:length|window|size)/i,
    sample: 'The conversation exceeds the model’s context window',
    kind: 'total',
    promptIs: 'exact',
  },
]

/** Every known wording of an overflow, those that state more before those that state less. */
export const overflowSignatures: readonly OverflowSignature[] = [
  ...serverSignatures,
  ...hostedSignatures,
  ...sharedSignatures,
]
