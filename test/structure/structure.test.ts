import { describe, expect, test } from 'vitest'
import {
  namesExportedTwice,
  roomsWithoutFloor,
  upwardImports,
  circlesIn,
  readSources,
  importsOfDialects,
  wireLines,
} from './source-files.ts'

const files = readSources()

describe('the tree of src', () => {
  test('has no circle of modules that import each other, types included', () => {
    expect(circlesIn(files)).toEqual([])
  })

  test('has imports that point down, from floor to floor', () => {
    expect(roomsWithoutFloor(files)).toEqual([])
    expect(upwardImports(files)).toEqual([])
  })

  test('names a wire format in src/dialects alone', () => {
    expect(wireLines(files)).toEqual([])
  })

  test('reaches a dialect by its contract: only the list of dialects imports from the folder of one', () => {
    expect(importsOfDialects(files)).toEqual([])
  })

  test('exports each name once, so that a name means one thing', () => {
    expect([...namesExportedTwice(files).keys()]).toEqual([])
  })
})

test('what these tests look for is found where it stands', () => {
  const made = [
    { path: 'request/a.ts', text: `export type Same = 0\nconst x = y['choices']`, imports: ['http/b.ts'] },
    { path: 'http/b.ts', text: 'export type Same = number', imports: ['request/a.ts', 'app.ts'] },
    { path: 'cellar/c.ts', text: '// choices', imports: ['dialects/responses/read.ts'] },
    { path: 'overflow/d.ts', text: "/'tool_use' ids/", imports: [] },
  ]
  expect(circlesIn(made)).toEqual([['request/a.ts', 'http/b.ts']])
  expect(upwardImports(made)).toEqual(['http/b.ts imports app.ts'])
  expect(roomsWithoutFloor(made)).toEqual(['cellar'])
  expect(wireLines(made)).toEqual(["request/a.ts:2: const x = y['choices']"])
  expect(importsOfDialects(made)).toEqual(['cellar/c.ts imports dialects/responses/read.ts'])
  expect([...namesExportedTwice(made).keys()]).toEqual(['Same'])
})
