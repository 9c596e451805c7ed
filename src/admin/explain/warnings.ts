import type { Chat } from '../../pipeline/request.ts'
import { READ_BYTES_MAX } from '../../json/unread.ts'
import { finish } from '../../json/source.ts'
import type { Rule } from '../../formats/contract.ts'
import { isSampled } from '../../tokens/unread-tokens.ts'
import type { Profile } from '../../profiles/schema.ts'
import { hasSummaries } from '../../profiles/effective.ts'
import type { ExplainWarning, Explanation } from './explanation.ts'
import { grouped } from '../../telemetry/log/lines.ts'

export type WarnedOf = Pick<
  Explanation,
  'model' | 'window' | 'budget' | 'margin' | 'fixed' | 'would' | 'pressure'
> & {
  readonly profile: Profile
  /** As the client sent it. */
  readonly received: Chat
  /** What would be made of it if the profile did not only observe. */
  readonly unobserved: Pick<Explanation['would'], 'passes' | 'sent_tokens'>
  /** Whether a recap stands in what would be sent. */
  readonly hasRecap: boolean
}

/** What the operator should know of a request, the gravest first. */
export function warningsOf(of: WarnedOf): readonly ExplainWarning[] {
  const all = [doesNotFit, broken, large, guessed, nameless, observed, standIn, sampled]
  return all.map((warningOf) => warningOf(of)).filter((warning) => warning !== null)
}

// --- internal ---

/** Above this share of the budget what is fixed leaves too little to work with. */
const FIXED_SHARE_MAX = 0.5

/** Places where a rule is broken that are named; there may be hundreds. */
const PLACES_MAX = 5

function doesNotFit({ profile, unobserved, budget, margin, fixed }: WarnedOf): ExplainWarning | null {
  if (unobserved.sent_tokens + margin <= budget) return null
  const message =
    profile.trigger === 'off'
      ? `It does not fit the budget of ${grouped(budget)} tokens, and the profile's trigger is off: only when the upstream refuses it is it made smaller.`
      : `It does not fit the budget of ${grouped(budget)} tokens even in its smallest form: what is fixed takes ${grouped(fixed.tokens + margin)}. The upstream would decide.`
  return { code: 'does_not_fit', message }
}

/** What the rules of `lenient` are about; the others hold for strict templates only. */
const brokenRules: Readonly<Partial<Record<Rule, string>>> = {
  'call-unanswered': 'tool calls without an answer',
  'calls-emptied': 'empty lists of tool calls',
  'result-orphaned': 'tool results without a call',
}

function broken({ profile, received }: WarnedOf): ExplainWarning | null {
  const shapes = received.messages.map(({ facts }) => facts)
  const violations = finish(received.dialect.rules.violations(shapes, 'lenient'))
  if (violations.length === 0) return null
  const told = [...Map.groupBy(violations, ({ rule }) => rule)]
    .map(
      ([rule, places]) =>
        `${brokenRules[rule] ?? rule} (${placesOf(
          received.dialect.entryName,
          places.map(({ index }) => index),
        )})`,
    )
    .join(', ')
  const mended = profile.repair && !profile.observe
  return {
    code: 'conversation_broken',
    message: mended
      ? `The conversation arrives broken: ${told}. The profile repairs it, and the ${received.dialect.entryName}s below are the repaired ones.`
      : `The conversation arrives broken: ${told}. Upstreams may refuse it; repair: true in the profile mends it.`,
  }
}

function placesOf(entry: string, indexes: readonly number[]): string {
  const named = indexes.slice(0, PLACES_MAX).join(', ')
  const more = indexes.length - PLACES_MAX
  return `${entry}${indexes.length === 1 ? '' : 's'} ${named}${more > 0 ? ` and ${more} more` : ''}`
}

function large({ fixed, budget }: WarnedOf): ExplainWarning | null {
  if (fixed.share_of_budget <= FIXED_SHARE_MAX) return null
  return {
    code: 'fixed_large',
    message: `What is fixed (system messages, tools, task, latest user message) takes ${grouped(fixed.tokens)} of the ${grouped(budget)} tokens: little is left for the conversation. Fewer tools, shorter instructions or a larger window help.`,
  }
}

function guessed({ model, window }: WarnedOf): ExplainWarning | null {
  if (window.source !== 'default') return null
  const whose = model === '' ? 'The window' : `The window of ${JSON.stringify(model)}`
  return {
    code: 'window_guessed',
    message: `${whose} is not known: ${grouped(window.tokens)} tokens are a guess. Set window.tokens in a profile for it.`,
  }
}

function nameless({ model }: WarnedOf): ExplainWarning | null {
  if (model !== '') return null
  const message = 'The body names no model, so neither profile nor window can be found by it: say for which.'
  return { code: 'model_missing', message }
}

function observed({ profile, unobserved }: WarnedOf): ExplainWarning | null {
  if (!profile.observe) return null
  const passes = unobserved.passes.length === 0 ? 'nothing done to it' : unobserved.passes.join(', ')
  return {
    code: 'observed',
    message: `The profile only observes (observe: true), so nothing is changed. Else ${grouped(unobserved.sent_tokens)} tokens would be sent: ${passes}.`,
  }
}

function sampled({ received }: WarnedOf): ExplainWarning | null {
  const count = received.messages.filter(isSampled).length
  if (count === 0) return null
  const { entryName } = received.dialect
  const which =
    count === 1
      ? `${entryName === 'item' ? 'An' : 'A'} ${entryName} is`
      : `${grouped(count)} ${entryName}s are`
  return {
    code: 'sampled',
    message: `${which} longer than what Foldgate reads of one, ${grouped(READ_BYTES_MAX / 1024)} KiB: the rest was counted by samples, and is left out where the ${entryName} is shortened.`,
  }
}

function standIn({ profile, hasRecap }: WarnedOf): ExplainWarning | null {
  if (!hasRecap || !hasSummaries(profile)) return null
  return {
    code: 'recap_stands_in',
    message:
      'Under this profile a model writes summaries. None is asked for here: a recap stands for what one would.',
  }
}
