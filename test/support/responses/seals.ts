import { createHmac, hash } from 'node:crypto'
import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import { meaningOf, valueDigest } from './meaning.ts'
import { typeOf, type WireItem } from './wire-item.ts'

/** Whose encrypted content it is and what it was made on. */
export type SealedFor = { readonly owner: string; readonly model: string; readonly prefix: string }

/** Why reasoning that is genuine is left out of the prompt, as `input_transformations` says it. */
export type RemovalReason = 'organization_mismatch' | 'model_mismatch' | 'prefix_mismatch'

/** Makes encrypted content, and tells whether what comes back was made here, and for what. */
export type Seals = {
  /** Encrypted content of about so many tokens of a model's thoughts. */
  seal(what: SealedFor, tokens: number): string
  /** Null where it was not made here. */
  open(sealed: string): SealedFor | null
}

/** `key` tells one upstream from another. */
export function openSeals(key: string): Seals {
  return {
    seal(what, tokens) {
      const told = Buffer.from(JSON.stringify(what)).toString('base64url')
      const charactersMin = Math.ceil((tokens * 16) / 3)
      const fillerLength = charactersMin - FERNET.length - told.length - TAG_CHARACTERS - 2
      const text = `${FERNET}${told}.${fillerOf(told, fillerLength)}`
      return `${text}.${tagOf(key, text)}`
    },
    open(sealed) {
      const end = sealed.lastIndexOf('.')
      const text = sealed.slice(0, end)
      if (!text.startsWith(FERNET) || sealed.slice(end + 1) !== tagOf(key, text)) return null
      const [told = ''] = text.slice(FERNET.length).split('.')
      const read: unknown = JSON.parse(Buffer.from(told, 'base64url').toString())
      if (!isObject(read)) return null
      return { owner: textOf(read['owner']), model: textOf(read['model']), prefix: textOf(read['prefix']) }
    },
  }
}

/**
 * What reasoning is bound to at each place of a request: the digest of tools, format of the reply, instructions and all
 * items before it, reasoning that was left out of the prompt included. The last one is that of the reply. An item of
 * compaction stands for everything before it, so that this may be left out.
 */
export function prefixesOf(body: WireItem, items: readonly WireItem[]): readonly string[] {
  const text = isObject(body['text']) ? body['text'] : {}
  const head = valueDigest([body['tools'], text['format'], body['instructions']])
  const prefixes = [head]
  for (const item of items) prefixes.push(prefixAfter(head, prefixes.at(-1) ?? head, item))
  return prefixes
}

/** The prefix behind one more item; `head` is the one before the first. */
export function prefixAfter(head: string, before: string, item: WireItem): string {
  return hash('sha1', `${typeOf(item) === 'compaction' ? head : before} ${meaningOf(item)}`)
}

/** Why the reasoning of an item is not shown to the model; null if it is, `false` if its content is none of this server's. */
export function judgeSeal(seals: Seals, item: WireItem, now: SealedFor): RemovalReason | null | false {
  const was = seals.open(textOf(item['encrypted_content']))
  if (was === null) return false
  if (was.owner !== now.owner) return 'organization_mismatch'
  if (was.model !== now.model) return 'model_mismatch'
  // What was compacted here stands for itself.
  return typeOf(item) === 'reasoning' && was.prefix !== now.prefix ? 'prefix_mismatch' : null
}

// --- internal ---

/** How the real ones begin. */
const FERNET = 'gAAAAAB'
const TAG_CHARACTERS = 27

function tagOf(key: string, text: string): string {
  return createHmac('sha1', key).update(text).digest('base64url')
}

/** As good as random, the same for the same seed. */
function fillerOf(seed: string, length: number): string {
  let filler = ''
  for (let block = 0; filler.length < length; block += 1)
    filler += hash('sha512', `${seed} ${block}`, 'base64url')
  return filler.slice(0, Math.max(0, length))
}
