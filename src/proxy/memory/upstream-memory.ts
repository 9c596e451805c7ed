import { createWindowLearner, type LearntWindow, type WindowLearner } from '../../overflow/learning.ts'
import { noMarks, type HeldKeyMark } from '../../upstream/held-key-marks.ts'
import { nameOfModel, type ModelKey } from '../../upstream/model-key.ts'
import { MODEL_NAME_CHARS_MAX } from '../../upstream/model-name.ts'
import { createLasting } from './lasting.ts'
import { partOf, type LearntPart } from './learnt-part.ts'
import { createRecallMemory, type RecallMemory } from './recall-memory.ts'
import { createPromptCaches, type PromptCaches } from './prompt-caches.ts'
import { createUsageMemory, type UsageMemory } from './usage-memory.ts'

/** What answers taught about an upstream's model: its window, its true name, and how it wants messages placed. */
export type UpstreamMemory = {
  readonly windows: WindowLearner
  /** Where usage of streamed answers need not or must not be asked for. */
  readonly usage: UsageMemory
  /** Which models must not be offered the recall tool. */
  readonly recall: RecallMemory
  /** Which credentials an upstream has accepted of late. */
  readonly accepted: AcceptedCredentials
  /** Which models were seen to read prompts from a cache. */
  readonly promptCaches: PromptCaches
  /** How rewritten requests have to be placed for this model; null where nothing was refused. */
  readonly placementOf: (key: ModelKey) => Placement | null
  readonly rememberPlacement: (key: ModelKey, placement: Placement) => void
  /** Forgets that only original bytes work: they overflowed. */
  readonly forgetOriginal: (key: ModelKey) => void
  /** The model that answers to this name; null while no answer has said. */
  readonly answeredBy: (key: ModelKey) => string | null
  readonly rememberAnswer: (key: ModelKey, answeredBy: string) => void
  /** What of it is kept in the store: all but `promptCaches` and `recall`. */
  readonly parts: Readonly<Record<string, LearntPart>>
}

/** `strict`: user messages joined; `original`: no rewriting at all. */
export type Placement = 'strict' | 'original'

/** By the upstream's name and the credential's digest, as a `ModelKey` has them. */
export type AcceptedCredentials = {
  readonly has: (upstream: string, credential: string) => boolean
  readonly note: (upstream: string, credential: string) => void
}

export type UpstreamMemoryOptions = {
  readonly nowMs: () => number
  /** Default: no key is held that could change. */
  readonly heldKeyMark?: HeldKeyMark
  /** Called when a window was learnt that was not known. Must not throw. */
  readonly onWindow?: (lesson: LearntWindow) => void
}

export function createUpstreamMemory({
  nowMs,
  heldKeyMark = noMarks,
  onWindow = () => {},
}: UpstreamMemoryOptions): UpstreamMemory {
  const windows = createWindowLearner({
    entriesMax: ENTRIES_MAX,
    lifetimeMs: WINDOW_LIFETIME_MS,
    onLearnt: onWindow,
  })
  const usage = createUsageMemory(nowMs)
  const placements = createLasting<Placement>({
    entriesMax: ENTRIES_MAX,
    lifetimeMs: (placement) => (placement === 'strict' ? STRICT_LIFETIME_MS : ORIGINAL_LIFETIME_MS),
    isValue: isPlacement,
    nowMs,
  })
  const answerers = createLasting<string>({
    entriesMax: ENTRIES_MAX,
    lifetimeMs: () => ALIAS_LIFETIME_MS,
    isValue: isModelName,
    nowMs,
  })
  // By the mark of the held key that was accepted with it: the next one has to be accepted itself.
  const accepted = createLasting<string>({
    entriesMax: ENTRIES_MAX,
    lifetimeMs: () => ACCEPTED_LIFETIME_MS,
    isValue: (value) => typeof value === 'string',
    nowMs,
  })
  return {
    windows,
    usage,
    recall: createRecallMemory(nowMs),
    promptCaches: createPromptCaches(),
    accepted: {
      has: (upstream, credential) =>
        accepted.get(nameOfCredential({ upstream, credential })) === heldKeyMark(upstream),
      note: (upstream, credential) =>
        accepted.set(nameOfCredential({ upstream, credential }), heldKeyMark(upstream)),
    },
    placementOf: (key) => placements.get(nameOfModel(key)),
    rememberPlacement: (key, placement) => placements.set(nameOfModel(key), placement),
    forgetOriginal: (key) => {
      if (placements.get(nameOfModel(key)) === 'original') placements.forget(nameOfModel(key))
    },
    answeredBy: (key) => answerers.get(nameOfModel(key)),
    rememberAnswer: (key, answeredBy) =>
      answerers.set(nameOfModel(key), answeredBy.slice(0, MODEL_NAME_CHARS_MAX)),
    parts: {
      windows: {
        snapshot: (key) => windows.snapshot(key, nowMs()),
        restore: (key, snapshot, how) => windows.restore(key, snapshot, how, nowMs()),
      },
      placement: partOf(placements, nameOfModel),
      answeredBy: partOf(answerers, nameOfModel),
      usage: usage.part,
      // Kept with each model that it was used for, so that one look-up finds all that a request needs.
      accepted: partOf(accepted, nameOfCredential),
    },
  }
}

// --- internal ---

function nameOfCredential({ upstream, credential }: Pick<ModelKey, 'upstream' | 'credential'>): string {
  return JSON.stringify([upstream, credential])
}

function isPlacement(value: unknown): value is Placement {
  return value === 'strict' || value === 'original'
}

function isModelName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MODEL_NAME_CHARS_MAX
}

const ENTRIES_MAX = 4096

/** A learnt window's end is the probe upwards. */
const WINDOW_LIFETIME_MS = 3_600_000

/** A model's template does not change while it runs; a day finds a new one. */
const STRICT_LIFETIME_MS = 86_400_000

/** What an alias or a deployment stands for may be changed behind it. */
const ALIAS_LIFETIME_MS = 3_600_000

/** One odd refusal must not end compaction for long. */
const ORIGINAL_LIFETIME_MS = 600_000

/** How long one answer speaks for a credential, in milliseconds; one that was revoked since is refused once more. */
const ACCEPTED_LIFETIME_MS = 86_400_000
