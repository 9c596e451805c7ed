import type { Chat } from '../../pipeline/request.ts'
import { READ_BYTES_MAX } from '../../json/skipped-text.ts'
import { runAtOnce } from '../../json/source.ts'
import type { Rule } from '../../formats/contract.ts'
import { callViolations } from '../../formats/call-rules.ts'
import { isSampled } from '../../tokens/skipped-tokens.ts'
import { hasSummaries, type Profile } from '../../profiles/schema.ts'
import { grouped } from '../../telemetry/log/lines.ts'

/** What of an explanation is warned of, by the same names. */
export type WarnedOf = {
  readonly model: string
  readonly window: { readonly tokens: number; readonly source: string }
  readonly budget: number
  readonly margin: number
  readonly fixed: { readonly tokens: number; readonly share_of_budget: number }
  readonly profile: Profile
  /** As the client sent it. */
  readonly received: Chat
  /** What would be made of it if the profile did not only observe. */
  readonly unobserved: { readonly passes: readonly string[]; readonly sent_tokens: number }
  /** Whether a recap stands in what would be sent. */
  readonly hasRecap: boolean
}

/** What the operator should know of a request, the gravest first. */
export function warningsOf(of: WarnedOf) {
  const { model, window, budget, margin, fixed, profile, received, unobserved, hasRecap } = of
  const budgetTokens = `${grouped(budget)} tokens`
  const found = {
    does_not_fit:
      unobserved.sent_tokens + margin > budget &&
      (profile.trigger === 'off'
        ? `It does not fit the budget of ${budgetTokens}, and the profile's trigger is off: only when the upstream refuses it is it made smaller.`
        : `It does not fit the budget of ${budgetTokens} even in its smallest form: what is fixed takes ${grouped(fixed.tokens + margin)}. The upstream would decide.`),
    conversation_broken: brokenRules(of),
    fixed_large:
      fixed.share_of_budget > FIXED_SHARE_MAX &&
      `What is fixed (system messages, tools, task, latest user message) takes ${grouped(fixed.tokens)} of the ${budgetTokens}: little is left for the conversation. Fewer tools, shorter instructions or a larger window help.`,
    window_guessed:
      window.source === 'default' &&
      `${model === '' ? 'The window' : `The window of ${JSON.stringify(model)}`} is not known: ${grouped(window.tokens)} tokens are a guess. Set window.tokens in a profile for it.`,
    model_missing:
      model === '' &&
      'The body names no model, so neither profile nor window can be found by it: say for which.',
    observed:
      profile.observe &&
      `The profile only observes (observe: true), so nothing is changed. Else ${grouped(unobserved.sent_tokens)} tokens would be sent: ${unobserved.passes.join(', ') || 'nothing done to it'}.`,
    recap_stands_in:
      hasRecap &&
      hasSummaries(profile) &&
      'Under this profile a model writes summaries. None is asked for here: a recap stands for what one would.',
    sampled: sampled(received),
  }
  return Object.entries(found).flatMap(([code, message]) => (message === false ? [] : { code, message }))
}

// --- internal ---

/** Above this share of the budget what is fixed leaves too little to work with. */
const FIXED_SHARE_MAX = 0.5

/** Places where a rule is broken that are named; there may be hundreds. */
const PLACES_MAX = 5

const ruleWords: Readonly<Record<Rule, string>> = {
  'call-unanswered': 'tool calls without an answer',
  'calls-emptied': 'empty lists of tool calls',
  'result-orphaned': 'tool results without a call',
}

function brokenRules({ profile, received: { messages, dialect } }: WarnedOf): string | false {
  const { rules, entryName } = dialect
  const shapes = messages.map(({ facts }) => facts)
  const violations = Map.groupBy(runAtOnce(callViolations(shapes, rules)), ({ rule }) => rule)
  if (violations.size === 0) return false
  const told = Array.from(violations, ([rule, places]) => {
    const named = places.slice(0, PLACES_MAX).map(({ index }) => index)
    const more = places.length > PLACES_MAX ? ` and ${places.length - PLACES_MAX} more` : ''
    return `${ruleWords[rule]} (${entryName}${places.length === 1 ? '' : 's'} ${named.join(', ')}${more})`
  })
  const mending =
    profile.repair && !profile.observe
      ? `The profile repairs it, and the ${entryName}s below are the repaired ones.`
      : 'Upstreams may refuse it; repair: true in the profile mends it.'
  return `The conversation arrives broken: ${told.join(', ')}. ${mending}`
}

function sampled({ messages, dialect: { entryName } }: Chat): string | false {
  const count = messages.filter(isSampled).length
  if (count === 0) return false
  const one = `${entryName === 'item' ? 'An' : 'A'} ${entryName} is`
  return `${count === 1 ? one : `${grouped(count)} ${entryName}s are`} longer than what Foldgate reads of one, ${grouped(READ_BYTES_MAX / 1024)} KiB: the rest was counted by samples, and is left out where the ${entryName} is shortened.`
}
