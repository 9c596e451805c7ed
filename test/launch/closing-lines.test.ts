import { expect, test } from 'vitest'
import { closingLines } from '../../src/launch/closing-lines.ts'
import { figuresBetween, readFigures } from '../../src/launch/run-figures.ts'

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
  const figures = figuresBetween(readFigures(before), readFigures(after))
  expect(closingLines(figures, 'seen there.', false)).toEqual([
    "foldgate: 5 requests: 3 compacted and 1 recovered from an overflow; 61,000 of 91,000 prompt tokens saved; 80 % of what was sent came from the provider's cache.",
    'foldgate: seen there.',
  ])
})

test('where no conversation came through it says so, and what that may mean', () => {
  const lists = readFigures('foldgate_requests_total{action="relayed",profile="",endpoint="other"} 1\n')
  const [first, second] = closingLines(lists, 'it goes on.', true)
  expect(first).toBe('foldgate: no conversation came through, only 1 other request.')
  expect(second).toMatch(/^foldgate: the program may not read these base URLs.* For now it goes on\.$/)
})
