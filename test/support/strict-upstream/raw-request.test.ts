import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutRawRequest } from './raw-request.ts'

const body = fc.record({
  model: fc.string(),
  messages: fc.array(fc.jsonValue()),
  tools: fc.jsonValue(),
  seed: fc.jsonValue(),
})

test('cuts out exactly what JSON.parse reads', () => {
  fc.assert(
    fc.property(body, fc.constantFrom(undefined, 2), (value, indent) => {
      const raw = cutRawRequest(JSON.stringify(value, null, indent))
      expect(raw.messages.map((text): unknown => JSON.parse(text))).toEqual(
        JSON.parse(JSON.stringify(value.messages)),
      )
      expect(JSON.parse(raw.tools)).toEqual(JSON.parse(JSON.stringify(value.tools)))
    }),
  )
})

test('keeps the spelling of every message', () => {
  const first = '{"role" : "user","content":"a\\"]}\\\\"}'
  const second = '{"n":1e400,"x":[1,{"y":"\\u0041"}]}'
  expect(cutRawRequest(` {"a":[{}],"messages": [ ${first} ,${second}\n] , "tools":[ ]}`)).toEqual({
    messages: [first, second],
    tools: '[ ]',
  })
})

test('reads escaped keys, and the last of two equal keys', () => {
  expect(cutRawRequest('{"messages":[1],"\\u006dessages":[2, 3]}').messages).toEqual(['2', '3'])
})

test('finds nothing where nothing is', () => {
  expect(cutRawRequest('{}')).toEqual({ messages: [], tools: '' })
  expect(cutRawRequest('{"messages":[]}')).toEqual({ messages: [], tools: '' })
})
