import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../config/temporary-folder.ts'
import { runJob } from '../run-job.ts'

const call = { id: 'a', type: 'function', function: { name: 'find', arguments: '{"at":1}' } }
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Where does it begin?' },
  { role: 'assistant', content: 'I look.', tool_calls: [call] },
  { role: 'tool', tool_call_id: 'a', content: 'In the middle.' },
  { role: 'assistant', content: 'In the middle.' },
]
// Its call is not answered: no upstream of this API takes it as it is.
const broken = [...messages.slice(0, 3), { role: 'user', content: 'Well?' }, messages[4]]
const request = { model: 'm', messages: messages.slice(0, 4) }

// Plain and streamed: two requests of the first and of the second, one of the third; in the Responses API, at the end of each,
// also that the upstream compacts.
test.each([
  ['responses', 10, 6],
  ['messages', 6, 4],
] as const)(
  'recordings are lived through a Foldgate, and where they fit every promise is kept: %s',
  async (dialect, recorded, repaired) => {
    const rows = [
      { id: 'one', messages },
      { id: 'two', messages: broken },
      { id: 'three', request },
    ]
    const folder = await temporaryFolder({ 'own.jsonl': rows.map((row) => JSON.stringify(row)).join('\n') })
    const report = await runJob(
      {
        kind: 'replay',
        dialect,
        windowTokens: 8000,
        profileTemplate: 'lenient',
        upstreamTemplate: 'lenient',
        isWindowKnown: true,
        statesUsage: true,
        expected: {},
      },
      { folder, file: null, pointsMax: null, keepsBodies: true },
    )
    expect(report.failures).toEqual([])
    expect(report.tallies).toMatchObject({
      own: { requests: recorded, errors: 0, rejected: 0, reasoningLost: 0 },
      'own (repaired)': { requests: repaired, errors: 0, rejected: 0, reasoningLost: 0 },
    })
    expect(report.bodies).toHaveLength(recorded + repaired)
  },
)
