import { setImmediate, setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { AnswerBody, madeBody, GivenUpError } from '../../src/upstream/answer-body.ts'

/** A body with its source, and what a reader is told of it. */
function opened() {
  const told: string[] = []
  const asked: string[] = []
  const body = new AnswerBody({
    pause: () => asked.push('pause'),
    resume: () => asked.push('resume'),
    abort: () => asked.push('abort'),
  })
  const reader = {
    piece: (piece: Buffer) => void told.push(piece.toString()),
    end: () => void told.push('end'),
    broken: (error: unknown) => void told.push(error instanceof Error ? error.message : 'broken'),
  }
  return { body, told, asked, reader }
}

describe('a body that breaks off', () => {
  test('throws nothing where nobody reads it', async () => {
    const { body } = opened()
    body.fail(new Error('cut'))
    await setTimeout(0)
    expect(body.isEnded).toBe(false)
  })

  test('because it was given up here tells its source, and its reader once', () => {
    const { body, told, asked, reader } = opened()
    body.read(reader)
    body.destroy()
    body.destroy()
    body.fail(new Error('aborted'))
    expect(told).toEqual([new GivenUpError().message])
    expect(asked).toEqual(['abort'])
  })
})

test('whoever stops reading its pieces before the end gives it up', async () => {
  const { body, asked } = opened()
  body.feed(Buffer.from('a'))
  body.feed(Buffer.from('b'))
  for await (const piece of body) {
    expect(piece.toString()).toBe('a')
    break
  }
  expect(asked).toEqual(['abort'])
})

describe('a body that is made here', () => {
  test('is asked for as it is read', async () => {
    let made = 0
    async function* pieces() {
      for (; made < 100; made += 1) yield Buffer.alloc(1024)
    }
    const { told, reader } = opened()
    const body = madeBody(pieces())
    await setTimeout(5)
    expect(made).toBe(0)
    body.read({
      ...reader,
      piece: (piece) => {
        reader.piece(piece)
        body.pause()
      },
    })
    await setTimeout(5)
    expect(told).toHaveLength(1)
    expect(made).toBe(0)
    body.resume()
    await setTimeout(5)
    expect(told).toHaveLength(2)
  })
})

// A connection brings megabytes at a time where they are there: tens of thousands of short events were read in one go, and
// everybody else waited for 60 ms.
test('of megabytes that come at a time others have their turn in between', async () => {
  const { body, told, asked, reader } = opened()
  body.read(reader)
  const pieces = Array.from({ length: 16 }, (_, place) => String.fromCodePoint(97 + place).repeat(64 * 1024))
  for (const piece of pieces) body.feed(Buffer.from(piece))
  body.finish()
  const atOnce = told.length
  expect(atOnce).toBeLessThan(pieces.length / 2)
  expect(asked).toContain('pause')
  let turns = 0
  while (!body.isEnded && turns < 100) {
    await setImmediate()
    turns += 1
  }
  expect(turns).toBeGreaterThan(2)
  expect(told).toEqual([...pieces, 'end'])
})
