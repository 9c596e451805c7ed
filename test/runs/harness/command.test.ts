import { expect, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { filesIn, oneOf, readCommand, readFolderCommand, text, texts, whole, yes } from './command.ts'

const flags = {
  file: texts,
  window: whole(16_000, 8000),
  chats: whole(),
  template: oneOf(['lenient', 'strict'], 'lenient'),
  bytes: text(),
  ratio: text('1'),
  json: yes,
}

test('what is given is taken, and what is not is as usual', () => {
  expect(readCommand([], flags)).toEqual({
    folder: null,
    values: {
      file: null,
      window: 16_000,
      chats: null,
      template: 'lenient',
      bytes: null,
      ratio: '1',
      json: false,
    },
  })
  const args = '--file a F --file b --window 8000 --chats 2 --template strict --bytes x --json'.split(' ')
  expect(readCommand(args, flags)).toMatchObject({
    folder: 'F',
    values: { file: ['a', 'b'], window: 8000, chats: 2, template: 'strict', bytes: 'x', json: true },
  })
})

// A window that nothing has once left nothing to measure, and the run ended with "0 failures".
test.each([
  [['--window', '8k'], '--window takes a whole number above 0.'],
  [['--window', ''], '--window takes a whole number above 0.'],
  [['--chats', '0'], '--chats takes a whole number above 0.'],
  [['--window', '4000'], '--window takes 8000 and more.'],
  [['--template', 'loose'], 'There is no template loose; there are lenient, strict.'],
  [['--windows', '8000'], expect.stringContaining("Unknown option '--windows'")],
  [['a', 'b'], 'One folder at a time; there is no use for b.'],
  [[], 'Name the folder with the recordings: npm run it -- FOLDER'],
])('%j is refused', (args, message) => {
  const read = () => readFolderCommand(args, flags, 'npm run it -- FOLDER')
  expect(read).toThrow(expect.objectContaining({ message }))
})

test('the files of a folder, or those that are named; where there are none, that is said', async () => {
  const folder = await temporaryFolder({ 'agents.jsonl': '\n', 'chats.jsonl': '\n', 'notes.txt': '' })
  expect(filesIn(folder, null)).toEqual(['agents.jsonl', 'chats.jsonl'])
  expect(filesIn(folder, ['chats', 'agents.jsonl'])).toEqual(['chats.jsonl', 'agents.jsonl'])
  expect(() => filesIn(folder, ['other'])).toThrow(
    `There are no recordings named other in ${folder}; there are agents.jsonl, chats.jsonl.`,
  )
  expect(() => filesIn(`${folder}/none`, null)).toThrow(
    `There are no recordings (*.jsonl) in ${folder}/none.`,
  )
})
