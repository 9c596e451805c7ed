import type { SeenRequest } from '../../../src/request/request.ts'
import { expect, test } from 'vitest'
import { readSeen, writeSeen } from '../../../src/request/records/seen-request.ts'

const conversation = 'abcdefgh-_012345'
const plain: SeenRequest = {
  conversation,
  parent: null,
  compaction: 'k1',
  next: null,
  partedAt: null,
  inner: false,
}

test.each<[string, SeenRequest]>([
  ['a request', plain],
  ['one that was gone on from', { ...plain, next: 'k2' }],
  ['one whose place another took', { ...plain, partedAt: 'k0' }],
  ['a beginning of one', { ...plain, next: 'k3', inner: true }],
])('%s is read as it was written', (_, seen) => {
  expect(readSeen(writeSeen(seen))).toEqual(seen)
})

test('what was written before there were beginnings is read, and a request that simply goes on is written so still', () => {
  const text = JSON.stringify({ conversation, parent: null, compaction: 'k1', next: null })
  expect(readSeen(text)).toEqual(plain)
  expect(writeSeen(plain)).toBe(text)
  expect(readSeen(JSON.stringify({ conversation, compaction: null }))).toEqual({
    ...plain,
    compaction: null,
  })
})

test.each([
  ['no JSON', 'seen'],
  ['no object', '7'],
  ['without an id', JSON.stringify({ compaction: null })],
  ['with an id that is none', JSON.stringify({ conversation: 'x', compaction: null })],
  ['with a compaction that is no key', JSON.stringify({ conversation, compaction: 7 })],
])('what is none is not read: %s', (_, text) => {
  expect(readSeen(text)).toBeNull()
})

test('what is damaged in it beside is as if it were not there', () => {
  const text = JSON.stringify({ ...plain, parent: 'x', next: 7, partedAt: {}, inner: 'yes' })
  expect(readSeen(text)).toEqual(plain)
})
