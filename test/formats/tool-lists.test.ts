import { expect, test } from 'vitest'
import { namedTools, shownTools, toolNamesIn, toolsInForce } from '../../src/formats/tool-lists.ts'
import { times } from '../support/times.ts'

const tool = (name: string, more: object = {}) => ({ type: 'function', name, ...more })
const deferred = (name: string) => tool(name, { defer_loading: true })
const names = (list: unknown) =>
  Array.from(JSON.stringify(list).matchAll(/"name":"(\w+)"/g), ([, name]) => name)
const reference = (name: string) => ({ type: 'tool_reference', name })

test('of deferred tools those are shown that the history has named, in lists of lists as well', () => {
  const tools = [
    tool('read'),
    deferred('a'),
    deferred('b'),
    { type: 'namespace', name: 'n', tools: [deferred('c'), tool('d')] },
  ]
  expect(names(shownTools(tools, new Set()))).toEqual(['read', 'n', 'd'])
  expect(names(shownTools(tools, new Set(['b', 'c'])))).toEqual(['read', 'b', 'n', 'c', 'd'])
  expect(shownTools('no list', new Set())).toBe('no list')
})

test('tools are named where they are found, added and taken away, and the last word counts', () => {
  const entries = [
    { type: 'tool_result', content: [{ type: 'tool_reference', tool_name: 'a' }] },
    {
      type: 'tool_search_tool_result',
      content: { tool_references: [{ type: 'tool_reference', tool_name: 'b' }] },
    },
    { role: 'system', content: [{ type: 'tool_addition', tool: reference('c') }] },
    { role: 'system', content: [{ type: 'tool_removal', tool: reference('a') }] },
    { role: 'user', content: 'tool_reference' },
  ]
  const named = entries.flatMap(namedTools)
  expect(named).toEqual(['a', 'b', 'c', '-a'])
  expect([...toolsInForce(named)]).toEqual(['b', 'c'])
})

// The names of each list were copied into the list that holds it: one request of some megabytes stopped all others for ten
// seconds, which takes this test beyond its time.
test('tools take their names in lists of lists, each of which is looked into once', () => {
  expect(toolNamesIn([{ function: { name: 'a' } }, { custom: { name: 'b' } }, null, 7])).toEqual(['a', 'b'])
  let tools: object[] = times(300_000, (number) => tool(`t${number}`))
  for (const name of times(400, String)) tools = [tool(name, { tools })]
  expect(toolNamesIn(tools)).toHaveLength(300_400)
}, 5_000)
