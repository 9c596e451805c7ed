import type { TextPart } from '../content/content-parts.ts'

export const inputTextPart: TextPart = (text) => `{"type":"input_text","text":${text}}`
