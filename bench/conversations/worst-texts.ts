import { hash } from 'node:crypto'

export type WorstText = {
  readonly name: string
  /** 1,000,000 bytes of UTF-8, or as many as whole characters give. */
  readonly text: string
}

const BYTES = 1_000_000

/** Texts that are hard on tokenizers: most have no place where one could be cut before it is merged. */
export function makeWorstTexts(): readonly WorstText[] {
  return [
    { name: 'one letter', text: 'a'.repeat(BYTES) },
    { name: 'spaces', text: ' '.repeat(BYTES) },
    { name: 'base64', text: base64() },
    { name: 'emoji', text: cycled(emoji, 4) },
    { name: 'one CJK character', text: '中'.repeat(Math.floor(BYTES / 3)) },
    { name: 'mixed CJK', text: cycled(hanCharacters, 3) },
    { name: 'digits', text: digits() },
    { name: 'punctuation', text: cycled(Array.from('!?.,;:-_+*/=<>()[]{}|&%$#@^~'), 1) },
  ]
}

/** Those of the bound that the project has set itself. */
export const boundedTexts: ReadonlySet<string> = new Set([
  'one letter',
  'spaces',
  'base64',
  'emoji',
  'one CJK character',
])

// --- internal ---

const emoji = Array.from('😀😂🚀🔥🎉👍🐛🌍🍕🎧📦🧪🛠💡🧊🦀')

/** 4,000 of the common range, so that neighbours rarely come twice. */
const hanCharacters = Array.from({ length: 4_000 }, (_, index) => String.fromCodePoint(0x4e00 + index * 5))

/** Bytes that look like chance, the same in every run. */
function bytesLikeChance(length: number): Buffer {
  const blocks: Buffer[] = []
  for (let block = 0; block * 32 < length; block += 1) blocks.push(hash('sha256', String(block), 'buffer'))
  return Buffer.concat(blocks).subarray(0, length)
}

function base64(): string {
  return bytesLikeChance((BYTES / 4) * 3).toString('base64')
}

function digits(): string {
  let text = ''
  for (const byte of bytesLikeChance(BYTES)) text += String(byte % 10)
  return text
}

/** Characters of `bytes` bytes each, in an order like chance. */
function cycled(characters: readonly string[], bytes: number): string {
  const count = Math.floor(BYTES / bytes)
  const chance = bytesLikeChance(2 * count)
  let text = ''
  for (let index = 0; index < count; index += 1)
    text += characters[chance.readUInt16LE(2 * index) % characters.length] ?? ''
  return text
}
