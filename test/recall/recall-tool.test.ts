import { describe, expect, test } from 'vitest'
import { type MessageRun, readRecallQuery } from '../../src/recall/recall-tool.ts'

const runsText = (runs: readonly MessageRun[]) =>
  runs.map(({ first, last }) => (first === last ? `#${first}` : `#${first}-#${last}`)).join(', ')

/** What was asked for, in short. */
function read(argumentsText: string): string {
  const query = readRecallQuery(argumentsText)
  switch (query.kind) {
    case 'list':
      return `list @${query.offset}`
    case 'messages':
      return `${runsText(query.runs)} @${query.offset}`
    case 'search':
      return `"${query.text}"${query.among === null ? '' : ` in ${runsText(query.among)}`} @${query.offset}`
    case 'unclear':
      return query.problem
  }
}

describe('a call lists what was left out', () => {
  const fromStart = ['', '  ', '{}', 'null', '[]', '""', '{"messages":"","search":null}', '{"messages":[]}']
  const fromOffset = ['{"offset":120}', '{"offset":"120"}', '{"offset":120.7,"messages":""}']
  test.each([...fromStart, ...fromOffset])('%j', (text) => {
    expect(read(text)).toBe(fromStart.includes(text) ? 'list @0' : 'list @120')
  })
})

describe('a call reads messages, however it names them', () => {
  test.each([
    ['"#17"', '#17'],
    ['"17"', '#17'],
    ['17', '#17'],
    ['17.0', '#17'],
    ['["#3", 17, "5"]', '#3, #5, #17'],
    ['"#12-#20"', '#12-#20'],
    ['"12-20"', '#12-#20'],
    ['"#12 to #20"', '#12-#20'],
    ['"12..20"', '#12-#20'],
    ['"#12…#20"', '#12-#20'],
    ['"12 – 20"', '#12-#20'],
    ['"messages #12 through #20, please"', '#12-#20'],
    ['"#20-#12"', '#12-#20'],
    ['"#3, #5-#7 and #6-9"', '#3, #5-#9'],
    ['"1-2 3"', '#1-#3'],
    ['"all"', '#1-#1000000000'],
    ['"#99999999999999999999"', '#1000000000'],
  ])('%s', (messages, runs) => {
    expect(read(`{"messages":${messages}}`)).toBe(`${runs} @0`)
  })

  test('also without the object around them, and as JSON within JSON', () => {
    for (const text of ['#17', '"#17"', '17', '[17]']) expect(read(text)).toBe('#17 @0')
    expect(read('#12-#20')).toBe('#12-#20 @0')
    expect(read(JSON.stringify('{"messages":"#17","offset":9}'))).toBe('#17 @9')
  })
})

describe('a call searches', () => {
  test.each([
    ['{"search":"retry queue"}', '"retry queue" @0'],
    ['{"search":" retry\\n queue ","offset":"1,200"}', '"retry queue" @1200'],
    ['{"search":4711}', '"4711" @0'],
    ['{"search":["retry","queue"]}', '"retry queue" @0'],
    ['{"search":"\\"retry queue\\""}', '"retry queue" @0'],
    ['{"search":"x","messages":"#1-#4"}', '"x" in #1-#4 @0'],
  ])('%s', (text, query) => {
    expect(read(text)).toBe(query)
  })

  test('a long text by its beginning', () => {
    expect(read(JSON.stringify({ search: 'word '.repeat(2000) })).length).toBeLessThan(420)
  })
})

describe('nonsense is told what was wrong', () => {
  test.each([
    ['{"messages":', 'the arguments are no JSON object'],
    ['list', 'the arguments are no JSON object'],
    ['{"messages":"the last ones"}', '"messages" takes names like "#17" or "#12-#20"'],
    ['{"messages":{"from":1}}', '"messages" takes names like "#17" or "#12-#20"'],
    ['true', '"messages" takes names like "#17" or "#12-#20"'],
    ['{"search":{"words":"x"}}', '"search" takes a text of words'],
    ['{"offset":"later"}', '"offset" takes a whole number'],
    ['{"query":"x"}', 'there are no arguments but "messages", "search" and "offset"'],
  ])('%s', (text, problem) => {
    expect(read(text)).toBe(problem)
  })
})
