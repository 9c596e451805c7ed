import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { challengeFor, requireToken } from '../../src/admin/admin-token.ts'

function requestWith(headers: IncomingMessage['headers']): IncomingMessage {
  const incoming = new IncomingMessage(new Socket())
  Object.assign(incoming.headers, headers)
  return incoming
}

function basic(pair: string): string {
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`
}

function isLetIn(authorization: string | undefined, token: string | null): boolean {
  try {
    requireToken(requestWith(authorization === undefined ? {} : { authorization }), token)
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'admin_token_required', param: 'authorization' })
    expect(String(error)).not.toContain('right')
    return false
  }
}

describe('the token lets in', () => {
  test.each([
    ['Bearer right', 'right'],
    ['bearer right', 'right'],
    ['BEARER   right  ', 'right'],
    [basic(':right'), 'right'],
    [basic('anybody:right'), 'right'],
    [basic('ünï:right'), 'right'],
    // A name has no colon; whatever comes behind the first one is the password.
    [basic('a:b:c'), 'b:c'],
    [basic('a:pässwörd'), 'pässwörd'],
    [basic('a:right').replace('Basic', 'basic'), 'right'],
  ])('%s', (authorization, token) => {
    expect(isLetIn(authorization, token)).toBe(true)
  })

  test('everybody where there is none', () => {
    expect(isLetIn(undefined, null)).toBe(true)
    expect(isLetIn('Bearer whatever', null)).toBe(true)
  })
})

test.each([
  undefined,
  '',
  'right',
  'Bearer',
  'Bearer ',
  'Bearerright',
  'Bearer righ',
  'Bearer rightt',
  'Bearer RIGHT',
  'Bearer right right',
  'Bearer right, Bearer wrong',
  'Token right',
  'Basic right',
  basic('right'),
  basic('right:'),
  basic('right:wrong'),
  basic('a:right '),
  'Basic !!!!',
  'Basic',
  `Bearer ${'x'.repeat(10_000)}`,
])('%j does not', (authorization) => {
  expect(isLetIn(authorization, 'right')).toBe(false)
})

test('nor does nothing, where somebody made an empty token of it', () => {
  expect(isLetIn(undefined, '')).toBe(false)
  expect(isLetIn('Bearer ', '')).toBe(false)
})

test('a browser is told to ask for a password, a program for the token', () => {
  expect(challengeFor(requestWith({ accept: 'text/html,*/*' }))).toBe(
    'Basic realm="Foldgate", charset="UTF-8"',
  )
  expect(challengeFor(requestWith({ accept: 'application/json' }))).toBe('Bearer')
  expect(challengeFor(requestWith({}))).toBe('Bearer')
})
