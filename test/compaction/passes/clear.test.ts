import { describe, expect, test } from 'vitest'
import { clearedText, unguessableNames } from '../../../src/compaction/passes/clear.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { profileOf } from '../../support/subject.ts'
import { prose, rounds, send, user, type Sent } from '../sending.ts'
import { times } from '../../support/times.ts'

const task = user('The task.')
/** A compaction that clears as much as it may and does nothing else. */
function sendCleared(conversation: readonly object[], clear: object = {}): Sent {
  const profile = profileOf({
    clear: { at: 0.01, ...clear },
    render: { enabled: false },
    keep: { recent_messages: 0 },
    trigger: 0.99,
    fold: { at: 0.99 },
  })
  return send(conversation, { budgetTokens: 10_000, profile })
}

describe('the placeholder of a cleared result', () => {
  test('names the tool and the size, so that the model can ask again', () => {
    expect(clearedText('read_file', 1234)).toBe('[cleared: result of read_file, 1234 tokens]')
  })

  test('does without a name where none is known', () => {
    expect(clearedText('', 1234)).toBe('[cleared: tool result, 1234 tokens]')
  })

  test.each([
    ['by the id of its call', { tool_call_id: 'y' }, 'grep'],
    ['by its own name', { tool_call_id: 'y', name: 'find' }, 'find'],
    ['by its place where ids are missing', {}, 'ls'],
  ])('has the tool’s name %s', (_, fields, name) => {
    const calls = ['x', 'y'].map((id) => ({
      ...('tool_call_id' in fields && { id }),
      type: 'function',
      function: { name: id === 'x' ? 'ls' : 'grep', arguments: '{}' },
    }))
    const result = { role: 'tool', ...fields, content: prose('r', 2000) }
    const other = { role: 'tool', ...('tool_call_id' in fields && { tool_call_id: 'x' }), content: 'ok' }
    const open = [{ role: 'assistant', content: null, tool_calls: calls }, result, other]
    const { contents } = sendCleared([task, ...open, ...rounds('b', 8, 100)])
    expect(contents[2]).toMatch(new RegExp(`^\\[cleared: result of ${name}, \\d+ tokens\\]$`))
  })
})

const namesIn = (text: string, sizeTokens = 4_000) => runAtOnce(unguessableNames(text, sizeTokens))

describe('what a result named that nobody can guess again', () => {
  // A path that one result had named was asked for forty requests later, and nothing told of it any longer.
  test('stands in its place: whole paths, addresses and ids', () => {
    const text =
      'It listens.\n# The settings are in /srv/ledger/etc/north.toml, ask ines@ledger.example about po_7QX2M94KD.'
    expect(namesIn(text)).toEqual(['/srv/ledger/etc/north.toml', 'ines@ledger.example', 'po_7QX2M94KD'])
    expect(clearedText('read_file', 900, null, namesIn(text))).toBe(
      '[cleared: result of read_file, 900 tokens; it named /srv/ledger/etc/north.toml, ines@ledger.example, po_7QX2M94KD]',
    )
  })

  test('of a small one fewer, or none: they would be most of what it was', () => {
    const paths = times(9, (n) => `/srv/runs/part/${n}.log`)
    expect(namesIn(paths.join(' '), 399)).toEqual([])
    expect(namesIn(paths.join(' '), 400)).toEqual(['/srv/runs/part/0.log'])
    expect(namesIn(paths.join(' '), 800)).toEqual(['/srv/runs/part/0.log', '/srv/runs/part/8.log'])
  })

  test('of many the first and the last, none longer than a line', () => {
    const paths = times(40, (n) => `/srv/runs/part/${n}.log`)
    expect(namesIn(paths.join(' '))).toEqual([...paths.slice(0, 2), ...paths.slice(-2)])
    expect(namesIn(`/srv/${'deep/'.repeat(30)}file.ts`)).toEqual([])
    expect(namesIn('const value = settings.port + retries')).toEqual([])
    expect(namesIn('booked at 2024-05-12T00:41:03 under HAT157')).toEqual(['HAT157'])
  })
})
