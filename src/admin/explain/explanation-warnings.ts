import type { Chat } from '../../pipeline/request.ts'
import { READ_BYTES_MAX } from '../../json/skipped-text.ts'
import { runAtOnce } from '../../json/source.ts'
import type { Rule } from '../../formats/contract.ts'
import { isSampled } from '../../tokens/skipped-tokens.ts'
import type { Profile } from '../../profiles/schema.ts'
import { hasSummaries } from '../../profiles/effective.ts'
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

export type ExplainWarning = {
  readonly code:
    | 'does_not_fit'
    | 'conversation_broken'
    | 'fixed_large'
    | 'window_guessed'
    | 'model_missing'
    | 'observed'
    | 'recap_stands_in'
    | 'sampled'
  readonly message: string
}

/** What the operator should know of a request, the gravest first. */
export function warningsOf(of: WarnedOf): readonly ExplainWarning[] {
  const { model, window, budget, margin, fixed, profile, received, unobserved, hasRecap } = of
  const warnings: readonly (ExplainWarning | false)[] = [
    unobserved.sent_tokens + margin > budget &&
      ({
        code: 'does_not_fit',
        message:
          profile.trigger === 'off'
            ? `It does not fit the budget of ${grouped(budget)} tokens, and the profile's trigger is off: only when the upstream refuses it is it made smaller.`
            : `It does not fit the budget of ${grouped(budget)} tokens even in its smallest form: what is fixed takes ${grouped(fixed.tokens + margin)}. The upstream would decide.`,
      } as const),
    brokenRules(of),
    fixed.share_of_budget > FIXED_SHARE_MAX &&
      ({
        code: 'fixed_large',
        message: `What is fixed (system messages, tools, task, latest user message) takes ${grouped(fixed.tokens)} of the ${grouped(budget)} tokens: little is left for the conversation. Fewer tools, shorter instructions or a larger window help.`,
      } as const),
    window.source === 'default' &&
      ({
        code: 'window_guessed',
        message: `${model === '' ? 'The window' : `The window of ${JSON.stringify(model)}`} is not known: ${grouped(window.tokens)} tokens are a guess. Set window.tokens in a profile for it.`,
      } as const),
    model === '' &&
      ({
        code: 'model_missing',
        message: 'The body names no model, so neither profile nor window can be found by it: say for which.',
      } as const),
    profile.observe &&
      ({
        code: 'observed',
        message: `The profile only observes (observe: true), so nothing is changed. Else ${grouped(unobserved.sent_tokens)} tokens would be sent: ${unobserved.passes.join(', ') || 'nothing done to it'}.`,
      } as const),
    hasRecap &&
      hasSummaries(profile) &&
      ({
        code: 'recap_stands_in',
        message:
          'Under this profile a model writes summaries. None is asked for here: a recap stands for what one would.',
      } as const),
    sampled(received),
  ]
  return warnings.filter((warning) => warning !== false)
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

function brokenRules({ profile, received: { messages, dialect } }: WarnedOf): ExplainWarning | false {
  const { rules, entryName } = dialect
  const shapes = messages.map(({ facts }) => facts)
  const violations = Map.groupBy(runAtOnce(rules.violations(shapes)), ({ rule }) => rule)
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
  return {
    code: 'conversation_broken',
    message: `The conversation arrives broken: ${told.join(', ')}. ${mending}`,
  }
}

function sampled({ messages, dialect: { entryName } }: Chat): ExplainWarning | false {
  const count = messages.filter(isSampled).length
  if (count === 0) return false
  const one = `${entryName === 'item' ? 'An' : 'A'} ${entryName} is`
  return {
    code: 'sampled',
    message: `${count === 1 ? one : `${grouped(count)} ${entryName}s are`} longer than what Foldgate reads of one, ${grouped(READ_BYTES_MAX / 1024)} KiB: the rest was counted by samples, and is left out where the ${entryName} is shortened.`,
  }
}
