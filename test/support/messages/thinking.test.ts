import { describe, expect, test } from 'vitest'
import { startAsking } from './asking.ts'
import { readReply } from './living.ts'
import type { MessagesUpstreamOptions } from './messages-upstream.ts'
import type { WireBlock } from './wire-block.ts'

const BETA = 'thinking-binding-controls-2026-08-01'

type Around = { readonly [field: string]: unknown; readonly key?: string; readonly beta?: string }

async function start(options: Partial<MessagesUpstreamOptions> = {}) {
  let made = 0
  const { ask: post } = await startAsking({
    windowTokens: 100_000,
    reply: () => ({
      content: [
        { type: 'thinking', tokens: 100 },
        { type: 'tool_use', id: `toolu_${(made += 1)}`, name: 'look', input: { cache_control: 1 } },
      ],
    }),
    ...options,
  })
  return async function ask(messages: readonly object[], around: Around = {}) {
    const { key = 'key', beta, ...fields } = around
    const headers = { 'x-api-key': key, ...(beta && { 'anthropic-beta': beta }) }
    const { status, text, error } = await post({ system: 'Think.', ...fields, messages }, headers)
    const reply = readReply(text)
    const [thought = {}, call = {}] = reply?.blocks ?? []
    return {
      status,
      text,
      error,
      thought,
      call,
      tokens: reply?.usage['input_tokens'],
      told: reply?.transformations,
    }
  }
}

type Ask = Awaited<ReturnType<typeof start>>

const task = { role: 'user', content: 'Do it.' }
const more = { role: 'user', content: 'Go on.' }
const model = (...content: WireBlock[]) => ({ role: 'assistant', content })
const results = (call: WireBlock, said = 'Seen.') => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: call['id'], content: said }],
})
const bound = (path: string) =>
  `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`
const withoutHeader = ` That setting requires the \`${BETA}\` value in the \`anthropic-beta\` header.`
const dropping = {
  thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
  beta: BETA,
}

/** A task and three rounds: what was thought and called in each. */
async function threeRounds(ask: Ask) {
  const history: object[] = [task]
  const rounds: { thought: WireBlock; call: WireBlock }[] = []
  for (let round = 0; round < 3; round += 1) {
    const { thought, call } = await ask(history)
    rounds.push({ thought, call })
    history.push(model(thought, call), results(call))
  }
  return rounds
}

/** The history of three rounds with the thinking of those that `keeps` names. */
const withThinkingOf = (rounds: Awaited<ReturnType<typeof threeRounds>>, keeps: readonly number[]) => [
  task,
  ...rounds.flatMap(({ thought, call }, round) => [
    keeps.includes(round) ? model(thought, call) : model(call),
    results(call),
  ]),
]

describe('thinking that comes back', () => {
  test('is taken behind what it was made on, whatever the spelling, the marks and the parameters', async () => {
    const ask = await start()
    const { thought, call } = await ask([task])
    const mark = { cache_control: { type: 'ephemeral' } }
    const spelt = { content: [{ ...mark, text: 'Do it.', type: 'text' }], role: 'user' }
    const answered = { ...results(call).content[0], content: [{ type: 'text', text: 'Seen.', ...mark }] }
    const system = [{ type: 'text', text: 'Think.', ...mark }]
    const messages = [spelt, model(thought, { ...call }), { role: 'user', content: [answered] }]
    const answer = await ask(messages, { system, tool_choice: { type: 'none' }, max_tokens: 7 })
    expect([answer.error, answer.told]).toEqual([null, []])
  })

  test.each<[string, Around, ...object[]]>([
    ['other tools', { tools: [{ name: 'f', input_schema: {} }] }, task],
    ['another system prompt', { system: 'Think twice.' }, task],
    ['a message that was written anew', {}, { ...task, content: 'Do this.' }],
    ['a message more', {}, task, more],
    ['a message of another role', {}, task, { ...more, role: 'system' }],
  ])('is refused behind anything else: %s', async (_, around, ...before) => {
    const ask = await start()
    const { thought, call } = await ask([task])
    const history = [...before, model(thought, call), results(call)]
    const path = `messages.${before.length}.content.0`
    expect(await ask(history, around)).toMatchObject({ status: 400, error: bound(path) + withoutHeader })
    expect((await ask(history, { ...around, beta: BETA })).error).toBe(bound(path))
  })

  test.each<[string, readonly number[], string | null]>([
    ['all', [0, 1, 2], null],
    ['without the oldest', [1, 2], null],
    ['without the newest', [0, 1], null],
    ['none', [], null],
    ['without one in the middle', [0, 2], 'messages.5.content.0'],
  ])('may be left out at the beginning and at the end: %s', async (_, keeps, path) => {
    const ask = await start()
    const history = withThinkingOf(await threeRounds(ask), keeps)
    expect((await ask(history)).error).toBe(path === null ? null : bound(path) + withoutHeader)
  })

  test('is left out of the prompt where the client says so, and that is told, streamed too', async () => {
    const ask = await start()
    const { thought, call } = await ask([task])
    const told = [
      { type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' },
    ]
    const asked = (stream: boolean, ...thinking: WireBlock[]) =>
      ask([more, model(...thinking, call), results(call)], { ...dropping, stream })
    const plain = await asked(false, thought)
    expect(plain).toMatchObject({ status: 200, told, tokens: (await asked(false)).tokens })
    const streamed = await asked(true, thought)
    expect(streamed.told).toEqual(told)
    expect(streamed.text.split('\n\n')[0]).toContain('input_transformations')
  })

  test('is shown and told where mismatches are only recorded', async () => {
    const ask = await start({ binding: 'record' })
    const { thought, call } = await ask([task])
    const history = [more, model(thought, call), results(call)]
    expect((await ask(history)).told).toMatchObject([{ type: 'thinking_mismatch_allowed' }])
    expect((await ask(history, dropping)).told).toMatchObject([{ type: 'thinking_dropped' }])
  })

  test('of another key or model is another’s', async () => {
    const ask = await start({ binding: 'drop_block' })
    const { thought, call } = await ask([task])
    const history = [task, model(thought, call), results(call)]
    expect((await ask(history, { key: 'other' })).told).toMatchObject([
      { reason: 'organization_binding_mismatch' },
    ])
    expect((await ask(history, { model: 'n' })).told).toMatchObject([{ reason: 'model_binding_mismatch' }])
  })

  test('of which a character differs is refused', async () => {
    const ask = await start({ binding: 'drop_block' })
    const { thought, call } = await ask([task])
    const [tail, signature] = [[model(thought, call), results(call)], String(thought['signature'])]
    const forged = {
      ...thought,
      signature: `${signature.slice(0, -1)}${signature.endsWith('A') ? 'B' : 'A'}`,
    }
    expect((await ask([task, model(forged, call), results(call)])).error).toBe(
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    )
    const reworded = { ...thought, thinking: 'Hm.' }
    expect((await ask([task, model(reworded, call), results(call)])).error).toMatch(
      /^messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified/,
    )
    expect(await ask([task, ...tail])).toMatchObject({ status: 200 })
  })

  test('of an older model goes anywhere, but stands before open calls where it has a budget', async () => {
    const ask = await start({ binding: 'none' })
    const { thought, call } = await ask([task])
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    expect((await ask([more, model(thought, call), results(call)], { thinking })).error).toBeNull()
    expect((await ask([task, model(call), results(call)], { thinking })).error).toBe(
      'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.',
    )
    expect((await ask([task, model(call), results(call)])).error).toBeNull()
  })

  test('stays good behind a compaction of the server’s own, without what that stands for', async () => {
    const ask = await start()
    const beta = 'compact-2026-09-04'
    const [first, second] = await threeRounds(ask)
    if (first === undefined || second === undefined) throw new Error('There were no rounds.')
    const old = [task, model(first.thought, first.call), results(first.call)]
    const compaction = { type: 'summarize' }
    const { thought: block, text } = await ask(old, { compaction, beta })
    expect([block['type'], JSON.parse(text)]).toMatchObject(['compaction', { stop_reason: 'compaction' }])
    const latter = [model(second.thought, second.call), results(second.call)]
    expect((await ask([model(block), ...latter], { beta })).error).toBeNull()
    expect((await ask([model(block), more, ...latter], { beta })).error).toBe(
      bound('messages.2.content.0') + withoutHeader,
    )
    const reworded = { ...block, content: 'Something else.' }
    expect((await ask([model(reworded), ...latter], { beta })).text).toContain('compaction_signature_invalid')
  })
})
