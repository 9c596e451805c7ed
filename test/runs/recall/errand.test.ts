import { expect, test } from 'vitest'
import { RECALL_NO_MORE } from '../../../src/pipeline/reply/further-answers.ts'
import { CALL_ID, openErrands } from './errand.ts'

const result = (content: string) => ({ role: 'tool', tool_call_id: `${CALL_ID}1`, content })
const errand = { first: '{"search":"x"}', isIn: (text: string) => text.includes('found it') }

test('a model on an errand reads from page to page until it has found what it wants', () => {
  const errands = openErrands()
  const end = errands.begin(errand)
  expect(errands.next([], true)).toBe('{"search":"x"}')
  expect(
    errands.next(
      [result('fou\n[recall: cut within a line; go on with the same arguments and "offset":3]')],
      true,
    ),
  ).toBe('{"search":"x","offset":3}')
  expect(errands.next([result('nd it\n[recall: that is all]')], true)).toBeNull()
  expect(end()).toMatchObject({ calls: 2, isFound: true })
  expect(errands.next([], true)).toBeNull()
})

test('what could not be read in one reply is left for the next', () => {
  const errands = openErrands()
  const end = errands.begin(errand)
  errands.next([], true)
  errands.next([result('a\n[recall: go on with the same arguments and "offset":2]')], true)
  expect(errands.next([result(RECALL_NO_MORE)], true)).toBeNull()
  expect(end()).toEqual({ calls: 1, isFound: false, rest: '{"search":"x","offset":2}' })
})

test('without the tool there is no call', () => {
  const errands = openErrands()
  const end = errands.begin(errand)
  expect(errands.next([], false)).toBeNull()
  expect(end()).toEqual({ calls: 0, isFound: false, rest: '{"search":"x"}' })
})
