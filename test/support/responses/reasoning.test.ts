import { afterEach, describe, expect, test } from 'vitest'
import { isObject } from '../strict-upstream/wire-message.ts'
import {
  startResponsesUpstream,
  type ResponsesUpstream,
  type ResponsesUpstreamOptions,
} from './responses-upstream.ts'
import type { WireItem } from './wire-item.ts'

const running: ResponsesUpstream[] = []
afterEach(async () => {
  for (const upstream of running.splice(0)) await upstream.close()
})

type Around = { readonly [field: string]: unknown; readonly authorization?: string }
type Answer = { status: number; error: unknown; output: WireItem[]; removed: unknown; tokens: unknown }

async function start(options: Partial<ResponsesUpstreamOptions> = {}) {
  const upstream = await startResponsesUpstream({
    windowTokens: 100_000,
    outputReserveChecked: true,
    count: (text) => text.length,
    reply: () => ({
      output: [
        { type: 'reasoning', tokens: 100 },
        { type: 'message', text: 'So.' },
      ],
    }),
    ...options,
  })
  running.push(upstream)
  return async function ask(input: readonly object[], around: Around = {}): Promise<Answer> {
    const { authorization = 'Bearer key', ...fields } = around
    const response = await fetch(`${upstream.url}/responses`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ model: 'm', store: false, instructions: 'Think.', ...fields, input }, null, 1),
    })
    const answer: unknown = JSON.parse(await response.text())
    const { error, output, input_transformations: removed, usage } = isObject(answer) ? answer : {}
    return {
      status: response.status,
      error,
      output: Array.isArray(output) ? output.filter(isObject) : [],
      removed,
      tokens: isObject(usage) ? usage['input_tokens'] : undefined,
    }
  }
}

const task = { role: 'user', content: 'Do it.' }
const more = { role: 'user', content: 'Go on.' }
const removedFor = (reason: string, ...items: (WireItem | undefined)[]) =>
  items.map((item) => ({ type: 'reasoning', id: item?.['id'], action: 'removed', reason }))

describe('reasoning that comes back', () => {
  test('is shown to the model behind what it was made on, whatever the spelling of that', async () => {
    const ask = await start()
    const { output } = await ask([task])
    const spelt = {
      content: [{ text: 'Do it.', type: 'input_text' }],
      role: 'user',
      type: 'message',
      id: 'msg_own',
      status: 'completed',
    }
    const answer = await ask([spelt, ...output, more], { metadata: { turn: '2' } })
    expect(answer).toMatchObject({ status: 200, removed: undefined })
    // 100 tokens are at least 534 characters of base64, each worth three sixteenths of a token.
    expect(answer.tokens).toBeGreaterThan(100)
  })

  test.each<[string, Around, readonly object[]]>([
    ['other tools', { tools: [{ type: 'function', name: 'f', parameters: {} }] }, [task]],
    ['another format of the reply', { text: { format: { type: 'json_object' } } }, [task]],
    ['other instructions', { instructions: 'Think twice.' }, [task]],
    ['a message that was written anew', {}, [{ ...task, content: 'Do this.' }]],
    ['a message that is gone', {}, []],
    ['a message more', {}, [task, more]],
  ])('is left out of the prompt behind a changed prefix: %s', async (_, around, before) => {
    const ask = await start()
    const { output } = await ask([task])
    const answer = await ask([...before, ...output, more], around)
    const [thought, said] = output
    expect(answer).toMatchObject({ status: 200, removed: removedFor('prefix_mismatch', thought) })
    expect(answer.tokens).toBe((await ask([...before, { ...said, id: undefined }, more], around)).tokens)
  })

  test('stays good behind a shortened prefix that it was itself made on, with the older reasoning gone or lost', async () => {
    const ask = await start()
    const [first, reply] = (await ask([task])).output
    // A fold: the older thought goes, what it led to stays and loses its id.
    const folded = [{ role: 'user', content: 'What was said: do it.' }, { ...reply, id: undefined }, more]
    const later = (await ask(folded)).output
    expect(await ask([...folded, ...later, more])).toMatchObject({ status: 200, removed: undefined })
    // The same with the older thought left in: it is lost for good, the newer one is not.
    const left = [folded[0] ?? {}, { ...first }, { ...reply }, more]
    const newer = (await ask(left)).output
    expect((await ask([...left, ...newer, more])).removed).toEqual(removedFor('prefix_mismatch', first))
    expect((await ask([...folded, ...newer, more])).removed).toEqual(removedFor('prefix_mismatch', newer[0]))
  })

  test('of another credential or model is left out too', async () => {
    const ask = await start()
    const { output } = await ask([task])
    const elsewhere = await ask([task, ...output, more], { authorization: 'Bearer other' })
    expect(elsewhere.removed).toEqual(removedFor('organization_mismatch', output[0]))
    const otherModel = await ask([task, ...output, more], { model: 'n' })
    expect(otherModel.removed).toEqual(removedFor('model_mismatch', output[0]))
  })

  test('of which a character differs is refused', async () => {
    const ask = await start()
    const [thought, reply] = (await ask([task])).output
    const sealed = String(thought?.['encrypted_content'])
    const forged = {
      ...thought,
      encrypted_content: sealed.slice(0, 40) + (sealed[40] === 'A' ? 'B' : 'A') + sealed.slice(41),
    }
    expect(await ask([task, forged, { ...reply }, more])).toMatchObject({
      status: 400,
      error: {
        message:
          'The encrypted content gAAA... could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
        type: 'invalid_request_error',
        code: 'invalid_encrypted_content',
      },
    })
  })

  test('without its content is looked for among what was stored', async () => {
    const ask = await start()
    for (const store of [false, true]) {
      const [thought, reply] = (await ask([task], { store })).output
      const { encrypted_content: _, ...bare } = thought ?? {}
      const answer = await ask([task, bare, { ...reply }, more])
      expect([answer.status, answer.removed]).toEqual(store ? [200, undefined] : [404, undefined])
    }
  })

  test('may lose what stands before an item of compaction, and that alone', async () => {
    const ask = await start()
    const [compaction] = (await ask([task, { type: 'compaction_trigger' }])).output
    const { output } = await ask([task, { ...compaction }, more])
    expect((await ask([{ ...compaction }, more, ...output, more])).removed).toBeUndefined()
    expect((await ask([more, { ...compaction }, more, ...output, more])).removed).toBeUndefined()
    expect((await ask([more, ...output, more])).removed).toEqual(removedFor('prefix_mismatch', output[0]))
  })

  test('demands its group in both directions', async () => {
    const ask = await start()
    const [thought, reply] = (await ask([task])).output
    const [id, replyId] = [String(thought?.['id']), String(reply?.['id'])]
    expect((await ask([task, { ...thought }, more])).error).toMatchObject({
      message: `Item '${id}' of type 'reasoning' was provided without its required following item.`,
    })
    expect((await ask([task, { ...reply }, more])).error).toMatchObject({
      message: `Item '${replyId}' of type 'message' was provided without its required 'reasoning' item: '${id}'.`,
    })
    expect(await ask([task, { ...reply, id: undefined }, more])).toMatchObject({ status: 200 })
  })
})
