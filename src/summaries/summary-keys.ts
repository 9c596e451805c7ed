import type { SummaryRange } from '../compaction/compaction.ts'
import type { Profile } from '../profiles/schema.ts'
import { SUMMARY_VERSION } from './prompt.ts'
import type { Digest } from '../conversation/source.ts'
import type { Message } from '../conversation/message.ts'
import type { Structure } from '../conversation/structure.ts'

/** A conversation, and the meaning key of every prefix of it: `keys[i]` stands for the first i messages. */
export type KeyedConversation = {
  readonly messages: readonly Message[]
  readonly structure: Structure
  readonly keys: readonly string[]
}

/** Whose records these are: the scope, the profile's name, and a digest of the model's name. */
export type RecordPlace = { readonly scope: string; readonly profile: string; readonly model: string }

/**
 * What a summary is found under: whose it is, how it is made, and the conversation up to its end by what it means. The
 * request's own model is no part of it, so that one that is changed in the middle finds what was summarised before.
 */
export function summaryKey(
  chat: KeyedConversation,
  scope: string,
  settings: Profile['summary'],
  range: SummaryRange,
  digest: Digest,
): string {
  const { systemCount } = chat.structure
  const { start, end, except } = range
  const place = [start - systemCount, ...except.map((index) => index - systemCount)]
  return `summary:${scope}:${settingsDigest(settings, digest)}:${digest(JSON.stringify([chat.keys[end] ?? '', place]))}`
}

/** What a summary is called where it is told of: as good as its key, and says nothing of whose it is. */
export function summaryName(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1).slice(0, NAME_CHARS)
}

// --- internal ---

/** 96 bits: enough to tell summaries apart. */
const NAME_CHARS = 16

const digests = new WeakMap<Profile['summary'], string>()

/** Of the settings that decide what a summary says. */
function settingsDigest(settings: Profile['summary'], digest: Digest): string {
  const known = digests.get(settings)
  if (known !== undefined) return known
  const { upstream, model, max_tokens, parameters, system_prompt, user_prompt } = settings
  const made = digest(
    JSON.stringify([SUMMARY_VERSION, upstream, model, max_tokens, parameters, system_prompt, user_prompt]),
  ).slice(0, DIGEST_CHARS)
  digests.set(settings, made)
  return made
}

const DIGEST_CHARS = 16
