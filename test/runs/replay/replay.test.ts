import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { job } from './jobs.ts'
import { runJob } from './run-job.ts'

const call = { id: 'a', type: 'function', function: { name: 'find', arguments: '{"at":1}' } }
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Where does it begin?' },
  { role: 'assistant', content: 'I look.', tool_calls: [call] },
  { role: 'tool', tool_call_id: 'a', content: 'In the middle.' },
  { role: 'assistant', content: 'In the middle.' },
]
const rows = [
  { id: 'one', messages },
  // Its call is not answered: no upstream of the lived APIs takes it as it is.
  { id: 'two', messages: [...messages.slice(0, 3), { role: 'user', content: 'Well?' }, messages[4]] },
  { id: 'three', request: { model: 'm', messages: messages.slice(0, 4) } },
]

// Plain and streamed: two requests of the first and of the second, one of the third; in the Responses API, at the end of each,
// also that the upstream compacts.
test.each([
  ['responses', 10, 6],
  ['messages', 6, 4],
] as const)(
  'recordings are lived through a Foldgate, and where they fit every promise is kept: %s',
  async (dialect, recorded, repaired) => {
    const folder = await temporaryFolder({ 'own.jsonl': rows.map((row) => JSON.stringify(row)).join('\n') })
    const lived = job({ dialect, windowTokens: 8000, statesUsage: true })
    const report = await runJob(lived, { folder, file: null, pointsMax: null, keepsBodies: true })
    expect(report.failures).toEqual([])
    expect(report.tallies).toMatchObject({
      own: { requests: recorded, errors: 0, rejected: 0, reasoningLost: 0 },
      'own (repaired)': { requests: repaired, errors: 0, rejected: 0, reasoningLost: 0 },
    })
    expect(report.bodies).toHaveLength(recorded + repaired)
  },
)

// What is broken is sent as it is, too: nothing is refused for it.
test('recordings are a chat with Ollama, whose window stands in each request: every promise is kept', async () => {
  const folder = await temporaryFolder({ 'own.jsonl': rows.map((row) => JSON.stringify(row)).join('\n') })
  const chat = job({ dialect: 'ollama', windowTokens: 4096, statesUsage: true, temperament: 'drops' })
  const report = await runJob(chat, { folder, file: null, pointsMax: null, keepsBodies: false })
  expect(report.failures).toEqual([])
  expect(report.tallies).toMatchObject({
    own: { requests: 6, errors: 0, rejected: 0 },
    'own (repaired)': { requests: 4, errors: 0, rejected: 0 },
    'own (broken)': { requests: 4, errors: 0, rejected: 0 },
  })
})

// `--window 8192` matched no configuration: nothing was replayed, and the run ended with "0 failures".
test.each([
  [['--window', '8192'], /^No replay has the window 8192; there are 8000, 16000, 32000\.\n$/],
  [['--window', '16000', '--template', 'auto'], /^No replay has the template auto for the window 16000\.\n$/],
  [['--window', '8000', '--template', 'auto', '--workers', '1'], /^The recordings hold no request to replay/],
])('a run that has nothing to replay ends with 1: %j', async (flags, reason) => {
  const folder = await temporaryFolder({ 'agents.jsonl': '\n' })
  const script = fileURLToPath(new URL('replay.ts', import.meta.url))
  const env = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }
  const ended = spawnSync(process.execPath, [script, folder, ...flags], { encoding: 'utf8', env })
  expect(ended.status).toBe(1)
  expect(ended.stderr).toMatch(reason)
})
