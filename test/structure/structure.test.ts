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

  test('names a wire format in src/formats alone', () => {
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
    { path: 'pipeline/a.ts', text: `export type Same = 0\nconst x = y['choices']`, imports: ['server/b.ts'] },
    { path: 'server/b.ts', text: 'export type Same = number', imports: ['pipeline/a.ts', 'app.ts'] },
    { path: 'cellar/c.ts', text: '// choices', imports: ['formats/responses/read.ts'] },
    { path: 'overflow/d.ts', text: "/'tool_use' ids/", imports: [] },
  ]
  expect(circlesIn(made)).toEqual([['pipeline/a.ts', 'server/b.ts']])
  expect(upwardImports(made)).toEqual(['pipeline/a.ts imports server/b.ts', 'server/b.ts imports app.ts'])
  expect(roomsWithoutFloor(made)).toEqual(['cellar'])
  expect(wireLines(made)).toEqual(["pipeline/a.ts:2: const x = y['choices']"])
  expect(importsOfDialects(made)).toEqual(['cellar/c.ts imports formats/responses/read.ts'])
  expect([...namesExportedTwice(made).keys()]).toEqual(['Same'])
})
