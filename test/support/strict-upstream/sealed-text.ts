import { createHmac, hash } from 'node:crypto'
import { isObject } from './wire-message.ts'

/** Texts that only their maker can write: what they tell is read back, and whether a character of them was changed is seen. */
export type SealedTexts = {
  /** One that tells this, of the length of about so many tokens of a model's thoughts. */
  seal(told: object, tokens: number): string
  /** What it tells; null where it was not made here. */
  open(sealed: string): Record<string, unknown> | null
}

/** `key` tells one maker from another; `beginning` stands before every text. */
export const openSealedTexts = (key: string, beginning: string): SealedTexts => ({
  seal(what, tokens) {
    const told = Buffer.from(JSON.stringify(what)).toString('base64url')
    const charactersMin = Math.ceil((tokens * 16) / 3)
    const fillerLength = charactersMin - beginning.length - told.length - TAG_CHARACTERS - 2
    const text = `${beginning}${told}.${fillerOf(told, fillerLength)}`
    return `${text}.${tagOf(key, text)}`
  },
  open(sealed) {
    const end = sealed.lastIndexOf('.')
    const text = sealed.slice(0, end)
    if (!text.startsWith(beginning) || sealed.slice(end + 1) !== tagOf(key, text)) return null
    const [told = ''] = text.slice(beginning.length).split('.')
    const read: unknown = JSON.parse(Buffer.from(told, 'base64url').toString())
    return isObject(read) ? read : null
  },
})

/** What a sealed text takes of the window: four bytes a token. */
export const sealedTokens = (sealed: string): number => Math.ceil((sealed.length * 3) / 4 / 4)

const TAG_CHARACTERS = 27

const tagOf = (key: string, text: string): string => createHmac('sha1', key).update(text).digest('base64url')

/** As good as random, the same for the same seed. */
function fillerOf(seed: string, length: number): string {
  let filler = ''
  for (let block = 0; filler.length < length; block += 1)
    filler += hash('sha512', `${seed} ${block}`, 'base64url')
  return filler.slice(0, Math.max(0, length))
}
