import { expect, test } from 'vitest'
import { bytes } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { spokenForms, type Form } from '../../formats/responses/forms.ts'
import { openStand, outputOf, post, roundsOf, user, type Item, type ResponsesStand } from './stand.ts'

const words = (count: number): string => 'quick brown fox jumps '.repeat(count / 4)

const opened = (): Promise<ResponsesStand> =>
  openStand({
    windowTokens: 4_000,
    reply: () => ({ output: [{ type: 'message', text: 'All is well.' }] }),
  })

/** An item of this form with what it needs beside it. */
const whole = ({ item, before, behind }: Form, said: string): Item[] =>
  [before, item(said), behind].filter((each) => each !== undefined)

test.each<readonly [string, string, (form: Form) => Item[]]>([
  ['goes on as it came if all fits', 'relayed', (form) => [...whole(form, words(40)), user('And?')]],
  [
    'is folded with what belongs to it',
    'compacted',
    (form) => [...roundsOf(1), ...whole(form, words(600)), user('On.'), ...roundsOf(7, 10)],
  ],
  [
    'is cut, or left out, if it is among the newest and too large',
    'compacted',
    (form) => [...roundsOf(1), ...whole(form, words(3_400)), user('And?')],
  ],
])('an item of each form %s', async (_, action, inputOf) => {
  const stand = await opened()
  for (const form of spokenForms) {
    if (form.isIssued === true) continue
    const { status, headers } = await post(stand, {
      input: [user(`Look at ${form.name}.`), ...inputOf(form)],
    })
    const rejected = stand.upstream.requests.map((request) => request.rejected?.message ?? null)
    stand.upstream.forget()
    const found = { name: form.name, status, action: headers.get('x-foldgate-action'), rejected }
    expect(found).toEqual({ name: form.name, status: 200, action, rejected: [null] })
  }
})

// An action that had to be cut became `{"clipped":"…"}`, which is no action.
test.each([
  ['shell_call', 'action', { commands: [words(3_400)], timeout_ms: 1000 }],
  ['local_shell_call', 'action', { type: 'exec', command: ['bash', '-c', words(3_400)], env: {} }],
  ['apply_patch_call', 'operation', { type: 'create_file', path: 'a.ts', diff: words(3_400) }],
])('what is cut of a %s is its words', async (type, field, action) => {
  const stand = await opened()
  const call = { type, id: 'x_1', call_id: 'call_1', status: 'completed', [field]: action }
  const behind = { type: `${type}_output`, call_id: 'call_1', output: 'done' }
  const { status } = await post(stand, { input: [user('Begin.'), ...roundsOf(3), call, behind] })
  const [sent, ...others] = stand.upstream.requests
  expect([status, others]).toEqual([200, []])
  const cut = sent?.items.find((item) => item['type'] === type)?.[field]
  const shape = JSON.stringify(action).replace(words(3_400), 'CUT')
  const shown = JSON.stringify(cut).replace(/quick brown[^"]*clipped: \d+ tokens in all[^"]*/, 'CUT')
  expect(shown).toBe(shape)
})

const JSON_TYPE = { 'content-type': 'application/json' }

function search(wanted: string): Item[] {
  const named = { call_id: 'call_s', execution: 'client' }
  const tool = { type: 'function', name: 'deploy', parameters: { type: 'object', properties: {} } }
  return [
    { type: 'tool_search_call', ...named, arguments: { wanted } },
    { type: 'tool_search_output', ...named, tools: [tool] },
  ]
}

// A search for tools is said again behind a fold. What it looked for had been cut while it was among the newest items, and came
// back whole when they were folded: the view was larger than the window, and the upstream refused it.
test('what tools were looked for by is cut where it is said again', async () => {
  const at = await opened()
  const input = [user('Begin.'), ...search(words(6_000)), user('Go on.')]
  for (let turn = 0; turn < 4; turn += 1) {
    const answer = await post(at, { input })
    const [sent, ...others] = at.upstream.requests
    at.upstream.forget()
    expect([answer.status, sent?.rejected, others]).toEqual([200, null, []])
    const searched = sent?.items.find(({ type }) => type === 'tool_search_call')
    expect(JSON.stringify(searched)).toMatch(/^.{10,20000}$/)
    input.push(...outputOf(answer), ...roundsOf(3, 10 * turn), user(`Go on, ${turn}.`))
  }
})

// Of a compaction that took out nothing but thoughts it was said that the conversation had been repaired.
test('a compaction that only takes out thoughts is no repair', async () => {
  const at = await openStand({
    windowTokens: 4_000,
    reply: () => ({
      output: [
        { type: 'reasoning', tokens: 900 },
        { type: 'message', text: 'Done.' },
      ],
    }),
  })
  const input = [user('Begin.')]
  const told: unknown[] = []
  for (let turn = 0; turn < 8; turn += 1) {
    const answer = await post(at, { input })
    told.push([answer.headers.get('x-foldgate-action'), answer.headers.get('x-foldgate-passes')])
    input.push(...outputOf(answer), user(`Go on, ${turn}.`))
  }
  expect(told).toContainEqual(['compacted', null])
  expect(JSON.stringify(told)).not.toContain('repair')
})

// The search was said again behind the fold, and what had answered it, being no answer to a search, was not: the view broke a rule
// that the conversation kept, and the request went on as it came.
test('a search for tools that something else answers is not said again', async () => {
  await using at = await standWith(
    bytes('{"object":"response","status":"completed","output":[]}', JSON_TYPE),
    {
      profile: { window: { tokens: 2_000, output_reserve: 256 } },
    },
  )
  const [called] = search('it')
  const output = { type: 'custom_tool_call_output', call_id: 'call_s', output: 'Done.' }
  const input = [user('Begin.'), called, output, ...roundsOf(4), user('Go on.')]
  const answer = await fetch(`${at.url}/responses`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ model: 'm', store: false, input }),
  })
  expect(answer.headers.get('x-foldgate-action')).toBe('compacted')
  expect(at.upstream.requests[0]?.body.toString()).not.toContain('tool_search_call')
})

// At each request point of the past a compaction was planned that weighed all tools that had been added: a body of a megabyte
// took a minute and a half. `npm run attacks` sends it whole and measures; here it is compacted.
test('thousands of tools that are added between turns are weighed once', async () => {
  const at = await opened()
  const input = Array.from({ length: 2_000 }, (_, index): Item => {
    if (index % 2 === 0)
      return {
        type: 'additional_tools',
        role: 'developer',
        tools: [{ type: 'function', name: `tool_${index}`, parameters: {} }],
      }
    return index % 4 === 1 ? user('Go on.') : { type: 'message', role: 'assistant', content: 'Yes.' }
  })
  const { headers } = await post(at, { input: [user('Begin.'), ...input, user('And?')] })
  expect(headers.get('x-foldgate-action')).toBe('compacted')
})

// The story: of items of an unknown type nobody knew what belonged to them, so that a cut could fall between two that name the
// same call.
test('items of unknown types that share an id stay or go together', async () => {
  const at = await opened()
  const input: Item[] = [user('Begin.')]
  for (let turn = 0; turn < 24; turn += 1) {
    input.push(
      { type: 'oracle_call', call_id: `oracle_${turn}`, question: words(40) },
      ...roundsOf(1, turn),
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: `Round ${turn}.` }] },
      user(`Go on, ${turn}.`),
      { type: 'oracle_call_output', call_id: `oracle_${turn}`, answer: words(40) },
    )
    const answer = await post(at, { input })
    expect(answer.status).toBe(200)
    const named = at.upstream.requests
      .at(-1)
      ?.items.flatMap(({ type, call_id: id }) => (String(type).startsWith('oracle') ? [String(id)] : []))
    const pairs = Map.groupBy(named ?? [], (id) => id)
    expect([...pairs].filter(([, both]) => both.length !== 2)).toEqual([])
  }
  expect(at.upstream.requests.at(-1)?.items.length).toBeLessThan(input.length / 2)
})
