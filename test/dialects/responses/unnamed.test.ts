import { describe, expect, test } from 'vitest'
import { unnamed } from '../../../src/dialects/responses/unnamed.ts'

describe('an item without the id by which the server demands the reasoning before it', () => {
  test('keeps all its other bytes', () => {
    const call = '{ "id":"fc_1", "type":"function_call","n":1.0e2 ,"call_id":"c" }'
    expect(unnamed(call)).toBe('{ "type":"function_call","n":1.0e2 ,"call_id":"c" }')
    expect(unnamed('{"role":"assistant","content":"a","id":"msg_1"}')).toBe(
      '{"role":"assistant","content":"a"}',
    )
  })

  // Without one, OpenAI's servers refused a search of theirs: Missing required parameter: 'input[42].id'.
  test('has another one where its type needs one', () => {
    const search = '{"id":"ws_1", "type":"web_search_call","status":"completed"}'
    expect(unnamed(search)).toBe('{"id":"ws_1x", "type":"web_search_call","status":"completed"}')
  })

  test('which begins as the type demands, and is no longer than servers take', () => {
    const id = `mcp_${'0123456789'.repeat(6)}`
    expect(unnamed(`{"type":"mcp_call","id":"${id}"}`)).toBe(`{"type":"mcp_call","id":"${id.slice(0, 63)}x"}`)
  })

  test('is as it came if it has none', () => {
    const done = '{"type":"web_search_call","action":{"id":"of something else"}}'
    expect(unnamed(done)).toBe(done)
  })
})
