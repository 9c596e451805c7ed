import { expect, test } from 'vitest'
import { spokenForms, type Form } from '../../dialects/responses/forms.ts'
import { openStand, post, roundsOf, user, type Item } from './stand.ts'

const words = (count: number): string => 'quick brown fox jumps '.repeat(count / 4)

/** An item of this form with what it needs beside it. */
const whole = ({ item, before, behind }: Form, said: string): Item[] =>
  [before, item(said), behind].filter((each) => each !== undefined)

test.each<readonly [string, string, (form: Form) => Item[]]>([
  ['goes on as it came if all fits', 'relayed', (form) => [...whole(form, words(40)), user('And?')]],
  [
    'is folded with what belongs to it',
    'compacted',
    (form) => [...roundsOf(3), ...whole(form, words(600)), user('On.'), ...roundsOf(9, 10)],
  ],
  [
    'is cut, or left out, if it is among the newest and too large',
    'compacted',
    (form) => [...roundsOf(4), ...whole(form, words(3_400)), user('And?')],
  ],
])('an item of each form %s', async (_, action, inputOf) => {
  const stand = await openStand({
    windowTokens: 4_000,
    reply: () => ({ output: [{ type: 'message', text: 'All is well.' }] }),
  })
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
  const stand = await openStand({
    windowTokens: 4_000,
    reply: () => ({ output: [{ type: 'message', text: 'All is well.' }] }),
  })
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
