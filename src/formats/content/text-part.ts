import type { TextPart } from './content-parts.ts'

/** A text as a part of a chat message, or as a block of a message of Anthropic's. */
export const textPart: TextPart = (text) => `{"type":"text","text":${text}}`
