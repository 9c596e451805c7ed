import { hash } from 'node:crypto'
import { lruCache } from '../../../src/caches.ts'
import { openSealedTexts } from '../strict-upstream/sealed-text.ts'
import { textOf, valueDigest } from '../strict-upstream/wire-message.ts'
import {
  meaningOf,
  unmarked,
  isThinking,
  systemBlocks,
  typeOf,
  type SentMessage,
  type WireBlock,
} from './wire-block.ts'

/** What stands before a place of a conversation, as it was sent. */
export type Prefix = {
  /** The digest of tools and system prompt. */
  readonly head: string
  /** The digest of every block of the messages but thinking. */
  readonly said: string
  /** The names of all thinking, in its order. */
  readonly thoughts: readonly string[]
}

/** Whose a signature is, and what it was made on. */
type SignedFor = { readonly owner: string; readonly model: string; readonly prefix: Prefix }

type Made = SignedFor & {
  readonly name: string
  /** The digest of what the block showed. */
  readonly shown: string
}

/** Signs blocks, and knows what each was signed for. */
export type Bindings = {
  sign(block: WireBlock, tokens: number, what: SignedFor): string
  /** Null where the signature was not made here. */
  read(block: WireBlock): Made | null
}

/** `key` tells one upstream from another. */
export function openBindings(key: string): Bindings {
  const texts = openSealedTexts(key, BEGINNING)
  const made = lruCache<Made>(SIGNATURES_MAX)
  let names = 0
  return {
    sign(block, tokens, what) {
      const name = String((names += 1)).padStart(7, '0')
      made.set(name, { ...what, name, shown: shownDigest(block) })
      return texts.seal({ name }, tokens)
    },
    read(block) {
      const told = texts.open(textOf(block['signature'] ?? block['data']))
      if (told === null) return null
      const known = made.get(textOf(told['name']))
      if (known === undefined) throw new Error('The upstream has forgotten what it has signed.')
      return known
    },
  }
}

/** What stands before the first message of a request. */
export function prefixOf(body: WireBlock): Prefix {
  const tools = unmarked(body['tools']).filter((tool) => tool['defer_loading'] !== true)
  return { head: valueDigest([tools, unmarked(systemBlocks(body))]), said: '', thoughts: [] }
}

/** The prefix behind one more block; `made` is what its signature says. */
export function prefixAfter(before: Prefix, role: string, block: WireBlock, made: Made | null): Prefix {
  if (isThinking(block)) return { ...before, thoughts: [...before.thoughts, made?.name ?? ''] }
  const isCompaction = typeOf(block) === 'compaction'
  // It stands for everything before it, which may be left out.
  if (isCompaction && made !== null) return { ...before, said: made.prefix.said, thoughts: [] }
  const said = hash('sha1', `${isCompaction ? '' : before.said} ${role} ${meaningOf(block)}`)
  return { ...before, said, thoughts: isCompaction ? [] : before.thoughts }
}

/** A block with a signature, where it stands in a request. */
export type SignedBlock = {
  readonly path: string
  readonly block: WireBlock
  readonly made: Made | null
  readonly before: Prefix
  readonly isInLatest: boolean
}

/** Every signed block of a request, and what stands before its reply. */
export function signedBlocks(body: WireBlock, messages: readonly SentMessage[], bindings: Bindings) {
  const latest = messages.findLast(({ role }) => role === 'assistant')
  const signed: SignedBlock[] = []
  let before = prefixOf(body)
  for (const message of messages) {
    for (const [place, block] of message.blocks.entries()) {
      const isSigned =
        isThinking(block) || (typeOf(block) === 'compaction' && block['signature'] !== undefined)
      const made = isSigned ? bindings.read(block) : null
      const path = `messages.${message.index}.content.${place}`
      if (isSigned) signed.push({ path, block, made, before, isInLatest: message === latest })
      before = prefixAfter(before, message.role, block, made)
    }
  }
  return { signed, end: before }
}

/** Why thinking that is genuine is not what the model would think here, as `input_transformations` says it. */
export type MismatchReason =
  | 'prefix_binding_mismatch'
  | 'model_binding_mismatch'
  | 'organization_binding_mismatch'

/** What is wrong with a signed block: `forged`, `modified`, or what it is bound to otherwise; null if nothing is. */
export function judgeSigned(
  { block, made, before, isInLatest }: SignedBlock,
  now: Pick<SignedFor, 'owner' | 'model'>,
): 'forged' | 'modified' | MismatchReason | null {
  if (made === null) return 'forged'
  if (made.shown !== shownDigest(block)) return isInLatest && isThinking(block) ? 'modified' : 'forged'
  if (made.owner !== now.owner) return 'organization_binding_mismatch'
  if (!isThinking(block)) return null
  if (made.model !== now.model) return 'model_binding_mismatch'
  return isSamePrefix(made.prefix, before) ? null : 'prefix_binding_mismatch'
}

/** How the real ones begin. */
const BEGINNING = 'Eq'
// More than the replies of the longest replay.
const SIGNATURES_MAX = 100_000

/** What a block shows without its signature. */
const shownDigest = (block: WireBlock): string =>
  valueDigest({ ...block, signature: null, data: null, cache_control: null })

/** The oldest thinking may be left out, but none of it from the middle, and nothing that was out may be back. */
function isSamePrefix(made: Prefix, now: Prefix): boolean {
  if (made.head !== now.head || made.said !== now.said) return false
  const left = made.thoughts.length - now.thoughts.length
  return left >= 0 && now.thoughts.every((name, place) => name === made.thoughts[left + place])
}
