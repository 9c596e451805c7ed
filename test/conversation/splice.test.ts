import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scanArray } from '../../src/conversation/json-scan.ts'
import { spliceMessages } from '../../src/conversation/splice.ts'
import type { ViewItem } from '../../src/conversation/splice.ts'
import { InvariantError } from '../../src/errors.ts'

const kept = (index: number): ViewItem => ({ kind: 'kept', index })
const made = (json: string): ViewItem => ({ kind: 'made', json })

function piecesOf(body: string, items: readonly ViewItem[]) {
  const start = body.indexOf('[')
  const scanned = scanArray(body, start)
  if (scanned === null) throw new Error('no array')
  return spliceMessages(scanned.elements, items, { start, end: scanned.end }, body.length)
}

function splice(body: string, items: readonly ViewItem[]): string {
  return piecesOf(body, items)
    .map((piece) => (typeof piece === 'string' ? piece : body.slice(piece.start, piece.end)))
    .join('')
}

const body = ' {"x": 1e400, "messages" : [ 1 ,\n 2 ,  3,4\t] , "y":[0] } '

describe('spliceMessages', () => {
  test.each<[string, readonly ViewItem[], string]>([
    ['nothing changed', [kept(0), kept(1), kept(2), kept(3)], '[ 1 ,\n 2 ,  3,4\t]'],
    ['the middle replaced', [kept(0), made('9'), kept(3)], '[ 1,9,4\t]'],
    ['the middle left out', [kept(0), kept(2), kept(3)], '[ 1,3,4\t]'],
    ['the end left out', [kept(0), kept(1)], '[ 1 ,\n 2\t]'],
    ['the beginning left out', [kept(2), kept(3)], '[ 3,4\t]'],
    ['something before', [made('9'), kept(0), kept(1)], '[ 9,1 ,\n 2\t]'],
    ['something after', [kept(3), made('8'), made('9')], '[ 4,8,9\t]'],
    ['everything replaced', [made('9')], '[ 9\t]'],
    ['everything left out', [], '[ \t]'],
  ])('%s', (_, items, array) => {
    expect(splice(body, items)).toBe(body.replace(/\[ 1[^\]]*\]/, array))
  })

  test('an unchanged view is one piece: the whole body', () => {
    const all = [kept(0), kept(1), kept(2), kept(3)]
    expect(piecesOf(body, all)).toEqual([{ start: 0, end: body.length }])
    expect(piecesOf('{"messages":[ ]}', [])).toEqual([{ start: 0, end: 16 }])
  })

  test('an empty array takes what is put into it', () => {
    expect(splice('{"messages":[ ]}', [made('1'), made('2')])).toBe('{"messages":[ 1,2]}')
  })

  test('a message that is not there is a bug, not a body', () => {
    expect(() => piecesOf(body, [kept(4)])).toThrow(InvariantError)
  })

  test('any view is the JSON of its messages, with kept neighbours as they stood', () => {
    const space = fc.stringMatching(/^[ \n\t]{0,3}$/)
    const elements = fc.array(fc.tuple(space, fc.jsonValue(), space), { minLength: 1, maxLength: 8 })
    const choices = fc.array(fc.constantFrom('keep', 'drop', 'replace', 'insert'), {
      minLength: 8,
      maxLength: 8,
    })
    fc.assert(
      fc.property(elements, choices, (values, choice) => {
        const texts = values.map(([before, value, after]) => before + JSON.stringify(value) + after)
        const items = values.flatMap((_, index): readonly ViewItem[] => {
          if (choice[index] === 'drop') return []
          if (choice[index] === 'replace') return [made('"new"')]
          return choice[index] === 'insert' ? [made('"new"'), kept(index)] : [kept(index)]
        })
        const expected = items.map((item) => (item.kind === 'made' ? 'new' : values[item.index]?.[1]))
        const original = `{"messages":[${texts.join(',')}]}`
        const spliced = splice(original, items)
        expect(JSON.parse(spliced)).toEqual(JSON.parse(JSON.stringify({ messages: expected })))
        const isUnchanged = items.length === values.length && items.every((item) => item.kind === 'kept')
        expect(isUnchanged ? spliced : original).toBe(original)
      }),
    )
  })
})
