import { expect, test } from 'vitest'
import { closingLines, readFigures } from '../../../src/commands/run/closing-lines.ts'

const addresses = new Map([['default', 'http://h/v1']])
const end = { seen: 'seen there.', goesOn: false, isQuit: false, startedAs: 'npm start --', addresses }

const before = `foldgate_requests_total{action="relayed",profile="default",endpoint="messages"} 4
foldgate_prompt_tokens_total{stage="received",profile="default"} 1000
foldgate_prompt_tokens_total{stage="sent",profile="default"} 1000
`

const after = `foldgate_requests_total{action="relayed",profile="default",endpoint="messages"} 5
foldgate_requests_total{action="compacted",profile="small",endpoint="responses"} 3
foldgate_requests_total{action="recovered",profile="small",endpoint="responses"} 1
foldgate_requests_total{action="refused",profile="",endpoint="other"} 2
foldgate_prompt_tokens_total{stage="received",profile="default"} 2000
foldgate_prompt_tokens_total{stage="received",profile="small"} 90000
foldgate_prompt_tokens_total{stage="sent",profile="default"} 2000
foldgate_prompt_tokens_total{stage="sent",profile="small"} 29000
foldgate_prompt_tokens_total{stage="cached",profile="small"} 24000
`

test('the lines are made of what came between two readings', () => {
  const figures = readFigures(after, before)
  expect(closingLines(figures, end)).toEqual([
    "foldgate: 5 requests: 3 compacted and 1 recovered from an overflow; 61,000 of 91,000 prompt tokens saved; 80 % of what was sent came from the provider's cache.",
    'foldgate: seen there.',
  ])
})

test('where no conversation came through it says so, and what that may mean', () => {
  const lists = readFigures('foldgate_requests_total{action="relayed",profile="",endpoint="other"} 1\n')
  const [first, second, third] = closingLines(lists, { ...end, seen: 'it goes on.', goesOn: true })
  expect(first).toBe('foldgate: no conversation came through, only 1 other request.')
  expect(second).toMatch(/^foldgate: the program may not read these base URLs/)
  expect(third).toBe('foldgate: it goes on.')
})

// Whoever looked at a program and quit was told that its settings were wrong.
test('who has quit a program without a question is not alarmed', () => {
  expect(closingLines(readFigures(''), { ...end, isQuit: true })).toEqual([
    'foldgate: no request came through; if it was asked something, "npm start -- run --help" says what can be in the way.',
  ])
})

// It came behind every run, and promised messages that had ended with it.
test('where nothing was done nothing is said of how to see it, unless Foldgate goes on', () => {
  const figures = readFigures(count('relayed', 3))
  expect(closingLines(figures, end)).toEqual(['foldgate: 3 requests, sent as they came.'])
  expect(closingLines(figures, { ...end, goesOn: true }).at(-1)).toBe('foldgate: seen there.')
})

// Half of a window was system text and tools: 17 of 18 requests were compacted, and nobody was told why.
test.each([
  [9, 8, true],
  [9, 4, false],
  [4, 4, false],
])('of %s requests, %s of them compacted anew: that it is told is %s', (requests, made, isTold) => {
  const passes = ['clear', 'fold'].map(
    (pass) => `foldgate_compactions_total{pass="${pass}",profile="d"} ${made}\n`,
  )
  const lines = closingLines(readFigures(count('compacted', requests) + passes.join('')), end)
  expect(lines.join('\n').includes('system text and tools fill most of the window')).toBe(isTold)
  expect(lines).toHaveLength(isTold ? 3 : 2)
})

const count = (action: string, many: number, endpoint = 'messages') =>
  `foldgate_requests_total{action="${action}",profile="d",endpoint="${endpoint}"} ${many}\n`

const errors = (status: number, code: string, many: number, endpoint = 'messages') =>
  `foldgate_error_answers_total{status="${status}",code="${code}",upstream="default",endpoint="${endpoint}"} ${many}\n`

// What no server had answered was told as "0 compacted and 7 refused"; what all had been refused, as sent.
test.each([
  [count('relayed', 1), '1 request, sent as it came.'],
  [
    count('relayed', 2) + count('left', 1),
    '3 requests: 2 sent as they came and 1 given up by the program before the answer.',
  ],
  [count('left', 1), '1 request: 1 given up by the program before the answer.'],
  [
    count('refused', 7) + errors(502, 'upstream_unreachable', 7),
    '7 requests, none of which reached http://h/v1: does the server run?',
  ],
  [
    count('relayed', 2) + errors(404, '', 2),
    '2 requests, all answered 404 by http://h/v1: does the server speak the Messages API (/messages), and has it the model?',
  ],
  [count('relayed', 1) + errors(500, '', 1), '1 request, answered 500 by http://h/v1.'],
  [
    count('relayed', 5) + errors(429, '', 2) + count('refused', 1) + errors(502, 'upstream_unreachable', 1),
    '6 requests: 3 sent as they came, 2 answered 429 by http://h/v1 and 1 did not reach http://h/v1.',
  ],
  [
    count('compacted', 4) + count('refused', 1) + errors(400, 'unknown_profile', 1),
    '5 requests: 4 compacted; of all, 1 refused by Foldgate (unknown_profile).',
  ],
  // A window that tools alone filled: "2 requests: 2 compacted, 0 recovered from an overflow and 1 answered 400" are three.
  [
    count('compacted', 2) + errors(400, '', 1),
    '2 requests: 2 compacted; of all, 1 answered 400 by http://h/v1.',
  ],
  [count('recovered', 1), '1 request: 1 recovered from an overflow.'],
  [count('relayed', 1) + count('refused', 2, 'completions'), '3 requests: 1 sent as it came and 2 refused.'],
])('the first line tells what failed, and where', (metrics, line) => {
  expect(closingLines(readFigures(metrics), end)[0]).toBe(`foldgate: ${line}`)
})

test('errors of before are not those of this run', () => {
  const earlier = count('relayed', 3) + errors(404, '', 3)
  const later = count('relayed', 4) + errors(404, '', 3)
  expect(closingLines(readFigures(later, earlier), end)[0]).toBe('foldgate: 1 request, sent as it came.')
})
