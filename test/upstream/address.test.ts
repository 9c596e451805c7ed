import { expect, test } from 'vitest'
import { isLoopbackName } from '../../src/upstream/address.ts'

test.each([
  'localhost',
  'LOCALHOST.',
  'foldgate.localhost',
  'my_app.localhost',
  '127.0.0.1',
  '127.255.0.3',
  '::1',
  '[::1]',
])('%s is this machine', (name) => {
  expect(isLoopbackName(name)).toBe(true)
})

test.each([
  '',
  '.',
  'localhost..',
  '.localhost',
  'a..localhost',
  'localhost.example',
  'notlocalhost',
  // None of them is a name: each would have been one of this machine, since it ends like one.
  'evil.example/x.localhost',
  'evil.example@x.localhost',
  'evil.example:80.localhost',
  'evil.example\t.localhost',
  '127.0.0.999',
  '127.0.0.01',
  '127.0.1',
  '127.0.0.1.example',
  '0.0.0.0',
  '2130706433',
  '0x7f.0.0.1',
  '[::ffff:7f00:1]',
  '[::1',
  '10.0.0.1',
])('%j may be another one', (name) => {
  expect(isLoopbackName(name)).toBe(false)
})
