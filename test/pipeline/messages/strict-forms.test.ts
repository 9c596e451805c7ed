import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/json/json-value.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { blocksIn, callOf, filler, pairsRule, press, resultOf, type Rule, type Said } from './pressing.ts'

/** One of the windows where a change is made, all of them in CI. */
const windows = [2_400, 6_000, 12_000].slice(0, propertyRuns(3))

const step = (round: number) => ({ type: 'text', text: `Step ${round}` })
const message = (role: string, ...content: readonly JsonObject[]): Said => ({ role, content })

/** Each of these conversations in each window. */
const inWindows = <Of>(conversations: Readonly<Record<string, Of>>) =>
  Object.entries(conversations).flatMap(([name, roundOf]) =>
    windows.map((windowTokens) => ({ name, roundOf, windowTokens })),
  )

/** Whatever names an id that another block has named must have that before it, and a call of the server's its result behind. */
const idsRule: Rule = (messages, body) => {
  const named = new Map<unknown, number>()
  for (const [index, each] of messages.entries())
    for (const block of blocksIn(each)) {
      const { type, id, tool_use_id: of, caller } = block
      const program = typeof caller === 'object' && caller !== null ? Object(caller)['tool_id'] : undefined
      for (const needed of [type === 'tool_result' ? undefined : of, program])
        if (needed !== undefined && !named.has(needed))
          return `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`${String(type)}\` blocks: ${String(needed)}. Each block must have a corresponding block before it.`
      if (id !== undefined) named.set(id, index)
      if (of !== undefined) named.delete(of)
    }
  // What the newest reply names may still be at work.
  const newest = JSON.stringify(messages.findLast(({ role }) => role === 'assistant'))
  for (const [id, index] of named)
    if (String(id).startsWith('srv') && !newest.includes(`"${String(id)}"`))
      return `messages.${index}: tool use ${String(id)} was found without its result`
  return pairsRule(messages, body)
}

const serverUse = (round: number, type = 'server_tool_use') => ({
  type,
  id: `srvtoolu_${round}`,
  name: 'advisor',
  input: {},
})
const serverResult = (round: number, type = 'advisor_tool_result') => ({
  type,
  tool_use_id: `srvtoolu_${round}`,
  content: { type: 'advisor_result', text: `Advice ${round}` },
})

// The story: the call of a server's own tool stands in one reply and its result at the start of the next, behind the client's
// results. The cut fell between them, and 36 of 60 requests were refused.
describe('what shares an id stays or goes together', () => {
  const conversations: Readonly<Record<string, (round: number) => readonly Said[]>> = {
    'a server tool in every other reply': (round) => [
      message(
        'assistant',
        ...(round % 2 === 1 ? [serverResult(round - 1)] : []),
        step(round),
        ...(round % 2 === 0 ? [serverUse(round)] : []),
        callOf(round),
      ),
      message('user', resultOf(round)),
    ],
    'blocks of unknown types': (round) => [
      message(
        'assistant',
        ...(round > 0 ? [serverResult(round - 1, 'oracle_said')] : []),
        step(round),
        serverUse(round, 'oracle_asked'),
        callOf(round),
      ),
      message('user', resultOf(round)),
    ],
    'a program that makes calls over three requests': (round) => {
      const first = round - (round % 3)
      const isLast = round % 3 === 2
      return [
        message('assistant', ...(round % 3 === 0 ? [step(round), serverUse(first)] : []), {
          ...callOf(round),
          caller: { type: 'code_execution_20250825', tool_id: `srvtoolu_${first}` },
        }),
        message('user', resultOf(round)),
        ...(isLast
          ? [
              message('assistant', serverResult(first, 'code_execution_tool_result'), step(round)),
              message('user', { type: 'text', text: `Go on, ${round}.` }),
            ]
          : []),
      ]
    },
  }
  test.each(inWindows(conversations))(
    '$name, at $windowTokens tokens: no request is refused for its form',
    async ({ roundOf, windowTokens }) => {
      const { refused, actions } = await press({
        windowTokens,
        model: 'claude-sonnet-4-6',
        roundOf,
        rule: idsRule,
      })
      expect(refused).toEqual([])
      expect(actions.filter((action) => action === 'compacted').length).toBeGreaterThan(
        windowTokens > 10_000 ? 0 : 20,
      )
    },
  )
})

const thoughtOf = (round: number, signature: string) => ({
  type: 'thinking',
  thinking: `I look at part ${round}`,
  signature,
})

const demands =
  (wording: string): Rule =>
  (messages, body) => {
    const index = messages.findIndex((each) => {
      const types = new Set(blocksIn(each).map(({ type }) => type))
      return each.role === 'assistant' && types.has('tool_use') && !types.has('thinking')
    })
    return index === -1 ? pairsRule(messages, body) : wording.replace('INDEX', `${index}`)
  }

const thoughtfulRound = (round: number) => [
  message('assistant', thoughtOf(round, `91cfbb94-554b-4136-8e21-fa02281${round}`), callOf(round)),
  message('user', resultOf(round)),
]

const boundRule: Rule = (messages, body) => {
  for (const [index, each] of messages.entries())
    for (const { type, signature } of blocksIn(each))
      if (type === 'thinking' && signature !== `behind ${index}`)
        return `messages.${index}.content.0: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation.`
  return pairsRule(messages, body)
}

const systemRule: Rule = (messages, body) => {
  for (const [index, { role }] of messages.entries()) {
    if (role !== 'system') continue
    const [before, next] = [messages[index - 1]?.role, messages[index + 1]?.role]
    if (before !== 'user') return `messages.${index}: a system message must follow a user message`
    if (next !== undefined && next !== 'assistant')
      return `messages.${index}: a system message must be last or be followed by an assistant message`
  }
  const others = messages.filter(({ role }) => role !== 'system')
  return pairsRule(others, body)
}
const change = (type: 'tool_addition' | 'tool_removal', name: string) => ({
  type,
  tool: { type: 'tool_reference', name },
})
/** The kinds of the changes in these messages, in their order. */
const changesIn = (messages: readonly Said[]): readonly unknown[] =>
  messages
    .flatMap(blocksIn)
    .map(({ type }) => type)
    .filter((type) => type === 'tool_addition' || type === 'tool_removal')
const plainRound = (at: number) => [message('assistant', step(at), callOf(at)), message('user', resultOf(at))]

// The story: all signed thoughts were taken out at a compaction, and a server that demands them refused every request past the
// window. Others keep them apart by whether they are Anthropic's, and imitators serve under its names.
describe('signed is not bound', () => {
  const wordings: Readonly<Record<string, string>> = {
    'by the field': 'The `content[].thinking` in the thinking mode must be passed back to the API.',
    'by the message':
      'thinking is enabled but reasoning_content is missing in assistant tool call message at index INDEX',
    'in words of Anthropic':
      'messages.INDEX.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
  }
  const thinking = { type: 'enabled', budget_tokens: 100 }
  test.each(
    Object.entries(wordings).flatMap(([name, wording]) =>
      [
        ['deepseek-v4-pro', 0],
        ['claude-sonnet-4-6', 1],
      ].flatMap(([model, refusals]) =>
        windows.map((windowTokens) => ({ name, wording, model: `${model}`, refusals, windowTokens })),
      ),
    ),
  )(
    'demanded $name of $model, at $windowTokens tokens: $refusals refusals at most',
    async ({ wording, model, refusals, windowTokens }) => {
      const { refused } = await press({
        windowTokens,
        model,
        roundOf: thoughtfulRound,
        rule: demands(wording),
        body: { thinking },
      })
      expect(refused.length).toBeLessThanOrEqual(Number(refusals))
    },
  )

  test.each(windows)(
    'bound by a server of another name, at %i tokens: one refusal at most',
    async (windowTokens) => {
      const { refused } = await press({
        windowTokens,
        model: 'acme-large',
        rule: boundRule,
        body: { thinking },
        roundOf: (round, sent) => [
          message('assistant', thoughtOf(round, `behind ${Math.max(1, sent.length)}`), callOf(round)),
          message('user', resultOf(round)),
        ],
      })
      expect(refused.length).toBeLessThanOrEqual(1)
    },
  )
})

// The story: system messages that add tools were restated one behind the other, and 29 of 50 requests were refused.
describe('system messages that are restated become one', () => {
  const conversations: Readonly<Record<string, (at: number) => readonly Said[]>> = {
    'that add a tool each': (at) => [
      ...plainRound(at),
      ...(at % 3 === 0 ? [message('system', change('tool_addition', `mcp_${at}`))] : []),
    ],
    'that take away what they have added': (at) => [
      ...plainRound(at),
      ...(at % 2 === 0
        ? [message('system', change(at % 4 === 0 ? 'tool_addition' : 'tool_removal', 'mcp_1'))]
        : []),
    ],
    'between turns of a user': (at) => [
      ...plainRound(at),
      ...(at % 4 === 3
        ? [message('assistant', step(at)), message('user', { type: 'text', text: `And now ${at}?` })]
        : []),
      ...(at % 4 === 1 ? [message('system', change('tool_addition', `mcp_${at}`))] : []),
    ],
  }
  test.each(inWindows(conversations))(
    '$name, at $windowTokens tokens: no request is refused for its form',
    async ({ roundOf, windowTokens, name }) => {
      const { refused, sent } = await press({
        windowTokens,
        model: 'claude-opus-4-8',
        roundOf,
        rule: systemRule,
        // Only a fold restates: results that are cleared instead would leave every change where it stood.
        profile: { clear: { enabled: false } },
      })
      expect(refused).toEqual([])
      // What was added is said in every request, and once; what was taken away again is not.
      const last = JSON.stringify(sent.at(-1))
      const named = (tool: string) =>
        last.split(`"tool_addition","tool":{"type":"tool_reference","name":"${tool}"`).length - 1
      if (name === 'that add a tool each')
        expect([0, 3, 27].map((at) => named(`mcp_${at}`))).toEqual([1, 1, 1])
      if (!name.startsWith('that take away')) return
      for (const messages of sent) {
        const changes = changesIn(messages)
        expect(changes).toEqual(
          changes.map((_, place) => (place % 2 === 0 ? 'tool_addition' : 'tool_removal')),
        )
        // What the fold took is said before all that the model says.
        const repliesFrom = messages.findIndex(({ role }) => role === 'assistant')
        expect(changesIn(messages.slice(0, repliesFrom)).length).toBeLessThanOrEqual(1)
      }
      if (windowTokens === 2_400) expect(named('mcp_1')).toBeLessThan(sent.length / 8)
    },
  )
})

const found = (at: number): JsonObject => ({
  ...resultOf(at),
  content: [{ type: 'tool_reference', tool_name: `mcp_${at}` }],
})

const search = (at: number) => [
  { type: 'server_tool_use', id: `srvtoolu_${at}`, name: 'web_search', input: { query: 'q' } },
  { type: 'web_search_tool_result', tool_use_id: `srvtoolu_${at}`, content: [] },
]

const findingRound = (at: number) => [
  message('assistant', step(at), callOf(at)),
  message('user', at === 3 ? found(at) : resultOf(at)),
]

// The story: of 6,853 bytes of messages 544 were sent, the task cut, since tools were weighed that the model was not shown; a
// count far below ours mended nothing. A reply that runs the server's own tools states the sum of several prompts.
describe('what is not in the prompt weighs nothing, and a sum is no size', () => {
  const tools = [
    { name: 'Bash', input_schema: { type: 'object' } },
    ...Array.from({ length: 30 }, (_, at) => ({
      name: `mcp_${at}`,
      description: `${filler(at)} ${filler(at + 100)}`,
      input_schema: { type: 'object' },
      defer_loading: true,
    })),
  ]
  /** Without the tools that nothing has named. */
  const shownTokens = (body: JsonObject, text: string): number => {
    const history = JSON.stringify(body['messages'])
    const hidden = tools.filter(({ name }) => name.startsWith('mcp') && !history.includes(`"${name}"`))
    return Math.ceil((text.length - JSON.stringify(hidden).length) / 4)
  }
  test.each(windows)('deferred tools, at %i tokens: what fits is not compacted', async (windowTokens) => {
    const { refused, actions, sent } = await press({
      windowTokens,
      model: 'claude-sonnet-4-6',
      roundOf: findingRound,
      rule: pairsRule,
      tokensOf: shownTokens,
      body: { tools },
    })
    expect(refused).toEqual([])
    // Five rounds take some 1,300 tokens.
    expect(actions.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'relayed'))
    const lastWhole = actions.indexOf('compacted') - 1
    expect(JSON.stringify(sent[lastWhole]).length / 4).toBeGreaterThan((windowTokens - 600) * 0.7)
  })

  test.each(windows)(
    'a sum of three prompts, at %i tokens: nothing is learnt of it',
    async (windowTokens) => {
      const {
        refused,
        actions,
        windows: told,
      } = await press({
        windowTokens,
        rounds: 12,
        model: 'claude-sonnet-4-6',
        roundOf: (at) => [
          message('assistant', ...search(at), step(at)),
          message('user', { type: 'text', text: `Go on, ${at}.` }),
        ],
        rule: pairsRule,
        usageOf: (promptTokens) => ({ input_tokens: 3 * promptTokens, output_tokens: 20 }),
        replyOf: (at) => search(1_000 + at),
      })
      expect(refused).toEqual([])
      expect(new Set(actions)).toEqual(new Set(['relayed']))
      expect(new Set(told)).toEqual(new Set([`${windowTokens};source=config`]))
    },
  )
})
