import { expect, test } from 'vitest'
import { sharedIdsOf } from '../../src/formats/shared-ids.ts'

test('an entry has its own ids, and names those of others, whatever the fields are called', () => {
  const open = {
    id: 'a',
    call_id: 'b',
    tool_use_id: 'c',
    approval_request_id: 'd',
    container_id: 'e',
    name: 'f',
  }
  expect(sharedIdsOf(open, true)).toEqual({ sharedIds: ['a', 'b'], namedIds: ['c', 'd', 'e'] })
})

test('a call of the client’s is tied by the program that makes it alone', () => {
  const call = { id: 'toolu_1', caller: { type: 'code_execution', tool_id: 'srvtoolu_1' } }
  expect(sharedIdsOf(call, false)).toEqual({ namedIds: ['srvtoolu_1'] })
  expect(sharedIdsOf({ id: 'toolu_1' }, false)).toEqual({})
})
