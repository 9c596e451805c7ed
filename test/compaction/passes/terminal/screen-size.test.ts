import { expect, test } from 'vitest'
import { screenSizeOf } from '../../../../src/compaction/passes/terminal/screen-size.ts'

test.each([
  ['a screen is 24 by 80 where nothing says otherwise', 'text\u001b[1;31m', 24, 80],
  ['it holds the rows and columns that are addressed', '\u001b[34;103Hx\u001b[40d', 40, 103],
  ['the distance that the cursor goes up', '\u001b[41A', 42, 80],
  ['the distance that it goes to the right', '\u001b[120C', 24, 121],
  ['the margins', '\u001b[1;50r', 50, 80],
  ['in either spelling', '\u009b30;90f', 30, 90],
  ['questions for the size are none about it', '\u001b[999;999H\u001b[999C\u001b[5000;1H', 24, 80],
])('%s', (_, text, rows, columns) => {
  expect(screenSizeOf(text)).toEqual({ rows, columns })
})
