import type { Steps } from '../conversation/source.ts'
import { matchesGlob } from '../profiles/glob.ts'
import type { Clips } from './layout.ts'
import type { Policy } from './policy.ts'
import { sumOf } from './size-sums.ts'
import type { Reach } from './compaction.ts'
import { toolNameOf, type Subject } from './subject.ts'
import type { Treatment, Treatments } from './treatments.ts'

/**
 * What each message of a conversation weighs, under whatever treatment: the arithmetic that plans are made
 * of. Sums over messages that are sent as they are cost nothing, whatever their number.
 */
export type Ledger = {
  /** Tokens of the messages from `start` up to `end` as the client sent them. */
  readonly originalTokens: (start: number, end: number) => number
  /** The same, under a compaction's treatments where it reaches. */
  readonly treatedTokens: (start: number, end: number, reach: Reach, clips: Clips) => Steps<number>
  /** What a compaction that reaches so far does to a message. */
  readonly treatment: (index: number, reach: Reach, clips: Clips) => Treatment
}

export function createLedger(subject: Subject, policy: Policy, treatments: Treatments): Ledger {
  const originalTokens = (start: number, end: number): number => sumOf(subject.sizes, start, end)

  const rendersAlways = policy.render.enabled && policy.render.at === 0
  const previewsAlways = policy.preview.at === 0

  const isExcepted = (tool: string): boolean =>
    policy.clear.except_tools.some((pattern) => matchesGlob(pattern, tool))

  function treatment(index: number, reach: Reach, { byIndex }: Clips): Treatment {
    const clip = byIndex.get(index)
    const other = unclipped(index, reach)
    if (clip === undefined || other.kind === 'cleared') return other
    if (clip.kind === 'media') return { kind: 'unloaded', mediaKept: clip.mediaKept }
    return { kind: 'clipped', tokensMax: clip.tokensMax, of: clip.of }
  }

  function unclipped(index: number, reach: Reach): Exclude<Treatment, { kind: 'clipped' | 'unloaded' }> {
    if (subject.messages[index]?.facts.role !== 'tool') return kept
    if (index < reach.clear && !isExcepted(toolNameOf(subject, index))) return cleared
    const size = subject.sizes[index] ?? 0
    if ((previewsAlways || index < reach.preview) && size >= policy.preview.threshold_tokens) return previewed
    if (rendersAlways || (policy.render.enabled && index < reach.render)) return rendered
    return kept
  }

  // Counted over all calls: plans weigh tens of thousands of messages one by one.
  let weighed = 0

  function* treatedTokens(start: number, end: number, reach: Reach, clips: Clips): Steps<number> {
    if (start >= end) return 0
    weighed += 1
    if (weighed % MESSAGES_PER_STEP === 0) yield
    const furthest = Math.max(reach.render, reach.preview, reach.clear, clips.furthest)
    const treatedEnd = rendersAlways || previewsAlways ? end : Math.max(start, Math.min(end, furthest + 1))
    let tokens = originalTokens(treatedEnd, end)
    for (let index = start; index < treatedEnd; index += 1) {
      weighed += 1
      if (weighed % MESSAGES_PER_STEP === 0) yield
      const how = treatment(index, reach, clips)
      tokens +=
        how.kind === 'kept' ? (subject.sizes[index] ?? 0) : (yield* treatments.make(index, how)).tokens
    }
    return tokens
  }

  return { originalTokens, treatedTokens, treatment }
}

// --- internal ---

/** Messages that are weighed between two pauses: less than a millisecond. */
const MESSAGES_PER_STEP = 1024

const kept = { kind: 'kept' } as const
const cleared = { kind: 'cleared' } as const
const previewed = { kind: 'previewed' } as const
const rendered = { kind: 'rendered' } as const
