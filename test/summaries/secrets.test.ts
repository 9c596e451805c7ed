import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redacted, secretShapes } from '../../src/summaries/secrets.ts'
import { anyCharacter } from '../support/any-character.ts'
import { forAll } from '../support/property-runs.ts'

describe('secrets', () => {
  test.each(secretShapes)('a $name is redacted, once ($sample)', ({ name, sample }) => {
    const text = redacted(`before ${sample} after`)
    expect(text).toContain(`[redacted ${name}]`)
    expect(text.startsWith('before ')).toBe(true)
    expect(text.endsWith(' after')).toBe(true)
    expect(redacted(redacted(sample))).toBe(redacted(sample))
  })

  test('a key, a header or a user whose secret was taken out can still be told', () => {
    expect(redacted('DB_PASSWORD=swordfish npm start')).toBe('DB_PASSWORD=[redacted secret] npm start')
    expect(redacted('curl -H "Authorization: Bearer 9f8e7d6c5b4a3928"')).toBe(
      'curl -H "Authorization: Bearer [redacted credential]"',
    )
    expect(redacted('redis://default:pa55@cache:6379/0')).toBe(
      'redis://default:[redacted password]@cache:6379/0',
    )
  })

  test('a secret inside JSON inside JSON is redacted, and the JSON stays JSON', () => {
    expect(redacted(nestedKey('abcd efgh'))).toBe(nestedKey('[redacted secret]'))
  })

  test('a private key is redacted whole, with escaped line ends and with none after it', () => {
    const line = 'MIIEowIBAAKCAQEAx1x2x3x4x5x6x7x8x9x0MIIEowIBAAKCAQEAx1x2x3x4x5x6'
    const key = ['-----BEGIN PRIVATE KEY-----', line, line, 'YWJj', '-----END PRIVATE KEY-----'].join('\n')
    expect(redacted(JSON.stringify({ key }))).toBe('{"key":"[redacted private key]"}')
    expect(redacted(key.slice(0, -40))).toBe('[redacted private key]')
  })

  test.each([
    'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
    'run 3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    `![](data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'.repeat(20)})`,
    'sha512-Z7C+wYw0YmnQzW8bqC1xX2n0m1n7mFJp8qU7oWmV9nB1g5mQy3Q0m6mQm3==',
    'max_tokens: 10240, "max_tokens": "1024", tokens=8192',
    'password: string; token: CancellationToken',
    'const token = getToken()\nconst secret = process.env.SECRET',
    'password=os.environ["DB_1_PASSWORD"]',
    '"token_type": "bearer"',
    'PASSWORD=${DB_PASSWORD} TOKEN=$1 SECRET=<your secret>',
    'import sk-learn-contrib-2023-extras',
    'https://example.com:8080/users/a@b',
    'Bearer of bad news arrived at noon',
    'if text.startswith("-----BEGIN PRIVATE KEY-----"): return load(text)',
  ])('is no secret: %s', (text) => {
    expect(redacted(text)).toBe(text)
  })

  // A quadratic search would take this test beyond its time.
  test('takes time in proportion to the text, whatever it is made of', () => {
    // Beginnings of every shape, over and over, with nothing that would end them: what makes a search go back.
    const beginnings = [
      ...secretShapes.map(({ sample }) => sample.slice(0, Math.ceil(sample.length / 2))),
      '-----BEGIN PRIVATE KEY-----\\n',
      'eyJ-',
      'eyJaaaaaaaa.',
      'a://b:',
      'password= ',
      'Bearer  ',
      'A_',
      'password"=\'aaa',
      '\n',
    ]
    for (const beginning of beginnings)
      expect(redacted(beginning.repeat(Math.ceil(1_000_000 / beginning.length)))).not.toBe('')
  })

  test('never throws', () => {
    forAll(100, fc.string({ unit: anyCharacter }), (text) => {
      expect(typeof redacted(text)).toBe('string')
    })
  })
})

const nestedKey = (key: string): string =>
  JSON.stringify({ body: JSON.stringify({ api_key: key, user: 'ann' }) })
