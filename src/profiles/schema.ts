import { z } from 'zod'
import {
  numberWithin,
  count,
  glob,
  group,
  headerName,
  jsonValue,
  oneOf,
  onOff,
  orNull,
  passStart,
  section,
  shareOrTokens,
  shareOrTokensOrOff,
  shortText,
} from './values.ts'
import { dialects } from '../formats/formats.ts'

/** Fields of a summary call that are not the operator's, in any dialect. */
const ownParameters: ReadonlySet<string> = new Set(
  dialects.flatMap(({ summaries }) => [...summaries.ownFields]),
)

const phrase = `the name of a request parameter other than ${[...ownParameters].join(', ')}`

/** A key of `summary.parameters`. */
const summaryParameter = z
  .string()
  .min(1, { error: phrase })
  .refine((name) => !ownParameters.has(name), { error: phrase })

/** @internal exported for tests. The parts of a recap, in their order. */
export const recapParts = ['said', 'work', 'files', 'diary', 'names'] as const

/**
 * A profile as a file may spell it: the one source of the type `Profile`, of the editor's schema and of
 * the tables in docs/configuration.md. Any key may be left out, no other key is accepted.
 *
 * Descriptions say meaning and unit; thresholds are ratios up to 1 and tokens above.
 */
export const profileKeys = group({
  models: z
    .array(glob, { error: 'a list of patterns' })
    .default([])
    .describe(
      'Patterns (`*`, `?`, any case) on the model of the request, or on the Azure deployment. The most specific profile wins. Empty with `headers` set: any model; empty without: chosen by name only. Not inherited.',
    ),
  headers: z
    .record(headerName, glob, { error: 'a map from header name to pattern' })
    .default({})
    .describe('Patterns on request headers, all of which must match as well. Not inherited.'),
  extends: shortText("a profile's name")
    .nullable()
    .default('default')
    .describe(
      'The profile whose values hold where this one sets none; null: only the defaults of this table. In `default` itself it has no effect.',
    ),
  upstream: orNull(shortText("an upstream's name"), 'Name of an upstream of foldgate.yaml; null: `default`.'),
  window: section("The model's window.", {
    tokens: z
      .union([count('tokens', 1), z.literal('auto')], {
        error: 'a whole number of tokens above 0, or auto',
      })
      .default('auto')
      .describe(
        "The model's context in tokens. auto: learnt from overflow answers and truncated prompts, else asked of the server, else from a built-in table, else 128000 with a warning.",
      ),
    max: orNull(
      count('tokens', 1),
      "A ceiling of the operator's own in tokens, for price tiers; null: none.",
    ),
    output_reserve: count('tokens')
      .default(4096)
      .describe(
        'Tokens kept free for the reply when the request sets no limit of its own: a quarter of the window at most.',
      ),
    encoding: oneOf(['auto', 'o200k_base', 'cl100k_base', 'o200k_digits', 'o200k_apart'])
      .default('auto')
      .describe(
        "What tokens are counted with. auto: by the model's name. o200k_digits: each digit by itself, as Qwen's and newer Mistral models; o200k_apart: signs and line ends as well, as Gemini, Gemma and Llama 2.",
      ),
    ratio: orNull(
      numberWithin('a number', 0.1, 10),
      "Starting ratio of the model's own tokens to those of `encoding`, for models with another tokenizer; null: the model family's. Answers replace it once they have counted 2,000 tokens.",
    ),
  }),
  trigger: shareOrTokensOrOff
    .default(1)
    .describe(
      'Where a compaction begins: a ratio of what is not fixed (1: when it would not fit), or tokens of the whole prompt, or off (recovery from overflow stays on).',
    ),
  target: orNull(
    shareOrTokens,
    'How far a compaction goes: a ratio or tokens, below the trigger; null: seven tenths of it. Further where two rounds like the latest would not fit otherwise, and less far where that would take what has a right to stay.',
  ),
  every: section(
    'Compactions by count, beside those by size; made when they are due, even where they free little.',
    {
      turns: count('turns')
        .default(0)
        .describe('Also a compaction after so many turns since the last; 0: off.'),
      tool_calls: count('tool calls')
        .default(0)
        .describe('Also a compaction after so many tool calls since the last; 0: off.'),
    },
  ),
  limit: section(
    'Compactions by length, beside those by size, which then take whole turns too; none with trigger off. With fewer than five turns the older ones first come down to their request and last reply. The newest `keep.recent_messages` stay: a limit that they exceed lets the view grow to twice their number.',
    {
      turns: count('turns')
        .default(0)
        .describe(
          'With more turns than this in what is sent, a compaction over the older half of them; no turn is split; 0: off.',
        ),
      messages: count('messages')
        .default(0)
        .describe(
          'With more messages than this (items, in the Responses API) in what is sent, leading system messages aside, a compaction over the older half of the turns; only a turn that is longer by itself is split, between its rounds; 0: off.',
        ),
    },
  ),
  min_growth_tokens: count('tokens')
    .default(0)
    .describe(
      'No further compaction before the conversation has grown by this many tokens, unless it would not fit otherwise.',
    ),
  keep: section('What no compaction touches, within its share.', {
    recent_messages: count('messages')
      .default(4)
      .describe(
        'How many of the newest messages stay word for word at the least, as far as those before the newest round take no more than half of what system messages and tools leave of the budget. More stay where so many take less than a third of it.',
      ),
    task: onOff
      .default(true)
      .describe(
        'Keep the first user message word for word, as far as it takes no more than a quarter of what system messages and tools leave of the budget, or what other parts leave.',
      ),
  }),
  strategy: oneOf(['auto', 'summarize', 'truncate'])
    .default('auto')
    .describe(
      'What stands for folded messages. truncate: recaps, which need no model call and cost nothing; summarize: summaries by a model, and recaps where one is missing; auto: summaries once summary.model or summary.upstream is set, else recaps.',
    ),
  template: oneOf(['auto', 'lenient', 'strict'])
    .default('auto')
    .describe(
      'Whether user messages may follow one another. auto: they may until the upstream objects; strict: they are joined.',
    ),
  repair: onOff
    .default(false)
    .describe(
      'Give unanswered tool calls of rounds that are over a result, give results without an id that of their call, turn results without a call into text, and take out empty lists of calls. Changes requests that would otherwise pass byte for byte.',
    ),
  render: section('Pass 1: terminal output in tool results becomes what a terminal would show in the end.', {
    enabled: onOff.default(true).describe('Whether the pass runs.'),
    at: passStart,
  }),
  preview: section('Pass 2: large tool results become their head and tail.', {
    threshold_tokens: count('tokens', 1)
      .default(2048)
      .describe('Tool results of so many tokens or more become a preview of head and tail.'),
    max_chars: count('characters', 1).default(1600).describe('Longest preview, in characters.'),
    max_lines: count('lines', 1).default(24).describe('Longest preview, in lines.'),
    at: passStart,
  }),
  clear: section('Pass 3: old tool results become a short placeholder.', {
    enabled: onOff.default(true).describe('Whether the pass runs.'),
    keep_results: count('results')
      .default(3)
      .describe('How many of the newest tool results stay while something else can go.'),
    except_tools: z
      .array(glob, { error: 'a list of tool names' })
      .default([])
      .describe('Tools whose results always stay; names or patterns (`*`, `?`).'),
    at: passStart,
  }),
  fold: section('Pass 4: old messages are replaced by a summary or a recap (`strategy`).', {
    at: passStart,
  }),
  clip: section('Pass 5: what still does not fit is shortened, each part to its share, head and tail kept.', {
    newest_user: onOff
      .default(false)
      .describe(
        'Whether a newest user message that alone exceeds the room is clipped too, for agents that send observations as user messages; false: it goes on whole, and your upstream decides.',
      ),
  }),
  recap: section('The summary made without a model.', {
    max_tokens: count('tokens', 1)
      .default(8192)
      .describe(
        'Longest recap, in tokens; with the summaries beside it, it never takes more than a third of what system messages and tools leave of the budget. Folded system messages that it quotes come on top.',
      ),
    beside_summaries: onOff
      .default(true)
      .describe(
        'Whether a recap stands beside a summary too, for what the summary does not name; false: only for messages that no summary covers.',
      ),
    tell: z
      .array(z.enum(recapParts))
      .readonly()
      .default([...recapParts])
      .describe(
        'What it tells: what the user said; the open list of work; the files that were changed and read, and what failed last; what the agent said and did, a line for each reply; and what else was named. What asks to be kept, and the operator’s messages, stand there in any case.',
      ),
  }),
  summary: section('Summaries written by a model.', {
    upstream: orNull(
      shortText("an upstream's name"),
      "Upstream that writes summaries; null: the request's own, with the client's key.",
    ),
    model: orNull(shortText("a model's name"), "Model that writes summaries; null: the request's own."),
    mode: oneOf(['background', 'blocking', 'off'])
      .default('background')
      .describe(
        'background: asked for ahead of need (never with trigger: off); blocking: asked for when a compaction is due, which then waits; off: no summaries. Either way none is asked for before the upstream has accepted the credential.',
      ),
    at: shareOrTokens
      .default(0.6)
      .describe(
        'From where a summary is asked for ahead of need: a ratio of what is not fixed, or tokens. At or below the target: right after each compaction.',
      ),
    max_tokens: count('tokens', 1)
      .default(1024)
      .describe(
        "Longest summary text in tokens, cut at a section's end; what the one before it named and it lost takes an eighth of it at most.",
      ),
    reasoning_tokens: count('tokens')
      .default(8192)
      .describe('Tokens that the call gets beyond `max_tokens`, for models that think first.'),
    parameters: z
      .record(summaryParameter, jsonValue, { error: 'a map of request parameters' })
      .default({})
      .describe(
        'Merged into the call: temperature, reasoning_effort and the like. What a model rejects by name is left out from then on.',
      ),
    min_savings_ratio: numberWithin('a ratio', 0, 1)
      .default(0.3)
      .describe(
        'Share of what it replaces that a summary must save, and 1,024 tokens, or it is not asked for or not taken.',
      ),
    wait_ms: count('milliseconds', 0, 600_000)
      .default(30_000)
      .describe(
        'How long a request waits for a summary that is due, in milliseconds; then a recap takes its place.',
      ),
    concurrent: count('calls', 1).default(2).describe('Summary calls at a time, per scope.'),
    system_prompt: orNull(
      shortText('a prompt'),
      'Own system prompt; `{previous_summary}` and `{messages}` are filled in; null: the built-in one.',
    ),
    user_prompt: orNull(
      shortText('a prompt'),
      'Own user prompt; `{previous_summary}` and `{messages}` are filled in; null: the built-in one.',
    ),
  }),
  overflow: section('Recovery from overflow answers.', {
    attempts: count('attempts', 0, 10)
      .default(3)
      .describe(
        'How many times a request that overflowed is tightened and sent again; the last in its smallest form; 0: never.',
      ),
    min_recent: count('messages')
      .default(4)
      .describe('Fewest of the newest messages that tightening keeps before the last attempt.'),
    hold_ms: count('milliseconds', 0, 600_000)
      .default(10_000)
      .describe(
        "How long an answer that may still be an overflow is held back after the upstream's 200, in milliseconds.",
      ),
    clamp_output: oneOf(['when_impossible', 'never'])
      .default('when_impossible')
      .describe(
        "Whether a resend lowers the request's own output limit when that leaves the prompt less than half of the window and the upstream refused, or when the upstream says that a lower one is enough. Where it has refused one so within the hour, the next requests are lowered before they are sent.",
      ),
    fallback: orNull(
      group({
        model: shortText("a model's name").describe('Its name, as that upstream knows it.'),
        upstream: orNull(
          shortText("an upstream's name"),
          "Name of an upstream of foldgate.yaml; null: the request's own.",
        ),
      }),
      'A larger model to which a request goes, once, that is refused as an overflow even in its smallest form; null: none. If that refuses it too, the client gets the first refusal.',
    ),
  }),
  recall: section('Reading back what was folded.', {
    enabled: onOff
      .default(false)
      .describe(
        'Offer the model one more tool, `recall_conversation`, with which it reads back what was folded. Only beside tools of the client. Experimental.',
      ),
    rounds: count('rounds', 1, 100)
      .default(3)
      .describe('How often its calls are answered within one reply; each time is an upstream request more.'),
  }),
  continuation: section('Going on with replies that were cut, and joining them.', {
    max: count('continuations', 0, 100)
      .default(0)
      .describe(
        'How often a reply cut by the output limit goes on, each time by an upstream request more; 0: never. Experimental.',
      ),
  }),
  messages: section("What concerns Anthropic's Messages alone.", {
    blank_billing: oneOf(['auto', 'always', 'never'])
      .default('auto')
      .describe(
        "Whether the line of Claude Code's for Anthropic's billing is taken out of the system text, also of requests that fit: it changes with each request, and no prompt cache reads what stands behind it. auto: unless the upstream is Anthropic itself, which knows the line.",
      ),
    subscriptions: oneOf(['observe', 'rewrite'])
      .default('observe')
      .describe(
        'What becomes of requests to Anthropic itself that a subscription pays for (a token of OAuth, no API key). observe: they are measured and reported, and go on as they came; rewrite: they are treated as any other.',
      ),
  }),
  observe: onOff.default(false).describe('Measure and report; change nothing, recovery included.'),
})

/** The schema of a whole profile: its keys, and what must hold between them. */
export const profileSchema = profileKeys.superRefine((profile, context) => {
  const { trigger, target } = profile
  if (trigger === 'off' || target === null || isRatio(trigger) !== isRatio(target) || target < trigger) return
  context.addIssue({
    code: 'custom',
    path: ['target'],
    message: `"target" (${target}) must be below "trigger" (${trigger}): a compaction goes down from one to the other`,
    input: target,
    params: { sentence: true },
  })
})

/** A profile with everything filled in. Keys are spelt as in the file. */
export type Profile = z.output<typeof profileSchema> & { readonly name: string }

/** Where a compaction begins, as a ratio up to 1 or tokens above. With `off` it is 1: the prompt still has to fit. */
export function triggerOf({ trigger }: Pick<Profile, 'trigger'>): number {
  return trigger === 'off' ? 1 : trigger
}

/**
 * How far a compaction goes, as a ratio up to 1 or tokens above. If the profile sets none it follows the
 * trigger.
 */
export function targetOf(profile: Pick<Profile, 'trigger' | 'target'>): number {
  return profile.target ?? triggerOf(profile) * SHARE_OF_TRIGGER
}

/** Whether models write summaries under a profile, not only recaps are made. */
export function hasSummaries({ strategy, summary }: Pick<Profile, 'strategy' | 'summary'>): boolean {
  if (summary.mode === 'off') return false
  return strategy === 'auto' ? summary.model !== null || summary.upstream !== null : strategy === 'summarize'
}

// --- internal ---

/** Chosen by what a view still holds at what price: docs/decisions/defaults.md. */
const SHARE_OF_TRIGGER = 0.7

function isRatio(value: number): boolean {
  return value <= 1
}
