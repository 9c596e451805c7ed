import type { SummaryRange } from '../compaction/compaction.ts'
import type { Profile } from '../profiles/schema.ts'
import { SUMMARY_VERSION } from './prompt.ts'
import type { Digest } from '../json/source.ts'
import type { Message } from '../conversation/message.ts'
import type { Structure } from '../conversation/structure.ts'

/** A conversation, and the meaning key of every prefix of it: `keys[i]` stands for the first i messages. */
export type KeyedConversation = {
  readonly messages: readonly Message[]
  readonly structure: Structure
  readonly keys: readonly string[]
}

/**
 * The key of a summary: its scope, the settings by which it is made, and the meaning of the conversation up to its end. The
 * request's own model is no part of it, so that a conversation whose model is changed finds its summaries again.
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
  const from = [start - systemCount, ...except.map((index) => index - systemCount)]
  return `summary:${scope}:${settingsDigest(settings, digest)}:${digest(JSON.stringify([chat.keys[end] ?? '', from]))}`
}

/** The name of a summary in reports: as good as its key, without the scope. */
export function summaryName(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1).slice(0, NAME_CHARS)
}

// --- internal ---

/** 96 bits: enough to tell summaries apart. */
const NAME_CHARS = 16

const digests = new WeakMap<Profile['summary'], string>()

/** A digest of the settings that decide what a summary says. */
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
