import { describe, expect, test } from 'vitest'
import { createLog, type LogFacts, type LogOptions } from '../../../src/telemetry/log/log.ts'

function written(given: Partial<LogOptions>, message: string, facts?: LogFacts): string {
  const lines: string[] = []
  const write = (line: string) => lines.push(line)
  const log = createLog({ level: 'info', write, pretty: false, now: () => new Date(0), ...given })
  log.debug(message, facts)
  log.warn(message, facts)
  return lines.join('')
}

describe('a log for programs', () => {
  test('is one JSON object a line', () => {
    expect(written({}, 'slow', { model: 'a\nb', tokens: 3 })).toBe(
      '{"time":"1970-01-01T00:00:00.000Z","level":"warn","message":"slow","model":"a\\nb","tokens":3}\n',
    )
  })

  test('says nothing below its level', () => {
    expect(written({ level: 'error' }, 'slow')).toBe('')
    expect(written({ level: 'silent' }, 'slow')).toBe('')
    expect(written({ level: 'debug' }, 'slow').split('\n')).toHaveLength(3)
  })
})

describe('a log for people at a terminal', () => {
  test('is the message and its facts', () => {
    const facts = { model: 'qwen3:8b é 日本 👋', problems: 'a/b.yaml:1:1: unknown key "x"', tokens: 3 }
    expect(written({ pretty: true }, 'slow', facts)).toBe(
      'warn: slow model=qwen3:8b é 日本 👋 problems=a/b.yaml:1:1: unknown key "x" tokens=3\n',
    )
  })

  // The name of a model comes from the client's body. Written as it came it cleared the operator's screen, set
  // the window's title or forged the next line of the log.
  test.each([
    ['a screen that is cleared', 'm\u001b[2J', String.raw`"m\u001b[2J"`],
    ['a title that is set', 'm\u001b]0;t\u0007', String.raw`"m\u001b]0;t\u0007"`],
    ['a command of one byte', 'm\u009b2J', String.raw`"m\u009b2J"`],
    ['a line of its own', 'm\nerror: all is lost', String.raw`"m\nerror: all is lost"`],
    ['a line that is overwritten', 'm\rgood', String.raw`"m\rgood"`],
    ['a character that is deleted', 'm\u007f', String.raw`"m\u007f"`],
    ['text that is turned around', 'm\u202egood', String.raw`"m\u202egood"`],
    ['a separator of lines', 'm\u2028n', String.raw`"m\u2028n"`],
    ['a hidden mark of two units', 'm\u{e0041}', String.raw`"m\udb40\udc41"`],
    ['quotes beside it', '"\\\u001b', String.raw`"\"\\\u001b"`],
  ])('shows %s, and does not let it happen', (_, model, shown) => {
    expect(written({ pretty: true }, 'slow', { model })).toBe(`warn: slow model=${shown}\n`)
    expect(written({ pretty: true }, model)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]./u)
  })
})
