import type { TextPart } from '../content/content-parts.ts'

export const textPart: TextPart = (text) => `{"type":"text","text":${text}}`
