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
