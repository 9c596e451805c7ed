import { hash } from 'node:crypto'
import { openSealedTexts } from '../strict-upstream/sealed-text.ts'
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
  const texts = openSealedTexts(key, FERNET)
  return {
    seal: (what, tokens) => texts.seal(what, tokens),
    open(sealed) {
      const read = texts.open(sealed)
      if (read === null) return null
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
