import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pythonFolder, startProgram, workFolder } from './programs.ts'
import o200k from 'js-tiktoken/ranks/o200k_base'

/** What a model's file says of its tokens, in the spelling of GPT-2: each byte is a printable character. */
export type Vocabulary = {
  readonly tokens: readonly string[]
  /** The pairs that are joined, the most wanted first. */
  readonly merges: readonly string[]
}

/**
 * The first tokens of OpenAI's o200k. Any text can be written with them, and it takes a fifth or so more of them than
 * of all, as with many an open model: an upstream that counts like one, and not like Foldgate.
 */
export function smallVocabulary(size = TOKENS): Vocabulary {
  const byRank = ranked().slice(0, size)
  const ranks = new Map(byRank.map((bytes, rank) => [bytes, rank]))
  const merges = byRank.flatMap((bytes) => {
    const pair = bytes.length === 1 ? null : lastPair(bytes, ranks)
    return pair === null ? [] : [pair.map(spelled).join(' ')]
  })
  return { tokens: byRank.map(spelled), merges }
}

const TOKENS = 16_384

function ranked(): readonly string[] {
  const tokens: string[] = []
  for (const line of o200k.bpe_ranks.split('\n')) {
    const [, first, ...encoded] = line.split(' ')
    for (const [index, text] of encoded.entries())
      tokens[Number(first) + index] = Buffer.from(text, 'base64').toString('latin1')
  }
  return tokens
}

/**
 * The two tokens that were joined to this one: those that are left when its bytes are joined by all pairs of a lower
 * rank. Null where three or more are left, which no pair can join.
 */
function lastPair(bytes: string, ranks: ReadonlyMap<string, number>): readonly string[] | null {
  const own = ranks.get(bytes) ?? 0
  const parts = bytes.split('')
  while (parts.length > 2) {
    const joined = parts.slice(1).map((part, index) => ranks.get(`${parts[index]}${part}`) ?? own)
    const lowest = Math.min(...joined)
    if (lowest >= own) return null
    parts.splice(
      joined.indexOf(lowest),
      2,
      parts.slice(joined.indexOf(lowest), joined.indexOf(lowest) + 2).join(''),
    )
  }
  return parts
}

/** GPT-2 writes printable bytes as they are, and the others as the characters from U+0100 on. */
const spelled = (bytes: string): string =>
  Array.from(bytes, (character) => spelling[character.charCodeAt(0)] ?? '').join('')

const spelling = byteSpelling()

function byteSpelling(): readonly string[] {
  let next = 0x100
  return Array.from({ length: 0x100 }, (_, byte) => {
    const isPrintable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
    return String.fromCharCode(isPrintable ? byte : next++)
  })
}

export const templates = ['lenient', 'strict'] as const

/**
 * What a model's chat template makes of roles: the lenient one writes whatever comes, the strict one refuses all but user
 * and assistant in turn, calls and results aside, as Mistral's do.
 */
export type Template = (typeof templates)[number]

export async function makeModels(python: string): Promise<Readonly<Record<Template, string>>> {
  const folder = join(workFolder(), 'models')
  mkdirSync(folder)
  const vocabulary = join(folder, 'vocabulary.json')
  writeFileSync(vocabulary, JSON.stringify(smallVocabulary()))
  const files = { lenient: join(folder, 'lenient.gguf'), strict: join(folder, 'strict.gguf') }
  for (const template of templates) {
    const written = fileURLToPath(new URL(`templates/${template}.jinja`, import.meta.url))
    const args = [join(pythonFolder, 'tiny_model.py'), vocabulary, written, files[template]]
    const program = startProgram(python, args)
    if ((await program.ended) !== 0) throw new Error(`The model was not written:\n${program.lastWords()}`)
  }
  return files
}
