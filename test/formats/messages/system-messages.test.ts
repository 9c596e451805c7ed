import { expect, test } from 'vitest'
import { runAtOnce } from '../../../src/json/source.ts'
import { joinedSystems } from '../../../src/formats/messages/messages.ts'

const change = (type: 'addition' | 'removal', name: string) => ({
  type: `tool_${type}`,
  tool: { type: 'tool_reference', name },
})
const system = (content: unknown, more: object = {}) => JSON.stringify({ role: 'system', content, ...more })
const joined = (...entries: readonly string[]): unknown =>
  JSON.parse(runAtOnce(joinedSystems(entries)) ?? 'null')

test('system messages become one that says what is left of them', () => {
  const entries = [
    system([change('addition', 'a'), change('addition', 'b')], { effort: 'low' }),
    system('Be brief.'),
    system([change('removal', 'a'), change('removal', 'd')], { effort: 'high' }),
    system([change('addition', 'c'), change('addition', 'd')]),
  ]
  const content = [change('addition', 'b'), { type: 'text', text: 'Be brief.' }, change('addition', 'c')]
  expect(joined(...entries)).toEqual({ role: 'system', effort: 'high', content })
})

test('a tool is told by its name, however it is written down', () => {
  const added = { type: 'tool_addition', tool: { type: 'custom', name: 'a', input_schema: {} } }
  const removed = { type: 'tool_removal', tool: { tool_name: 'a', type: 'tool_reference' } }
  expect(runAtOnce(joinedSystems([system([added]), system([removed])]))).toBeNull()
})

test('nothing is said where all of it cancels out', () => {
  expect(
    runAtOnce(joinedSystems([system([change('addition', 'a')]), system([change('removal', 'a')])])),
  ).toBeNull()
  const again = [change('addition', 'a'), change('removal', 'a'), change('addition', 'a')]
  expect(joined(...again.map((each) => system([each])))).toMatchObject({ content: [change('addition', 'a')] })
})
