import { describe, expect, test } from 'vitest'
import { refersBack, tellsFailure } from '../../src/conversation/result-words.ts'

// Each as a client says it, or as one may: what counts is the form, and no list of sayings.
describe('a result refers back that says', () => {
  test.each([
    'Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.',
    'File unchanged since last read. The content from the earlier Read tool_result in this conversation is still current — refer to that instead of re-reading.',
    '[File part_9.py unchanged since last read in this session — the full content was provided earlier in this conversation. If you cannot retrieve that prior content (e.g. after context compaction) or you suspect the file was modified outside the read/edit tools (shell command, MCP tool, another process), re-read with explicit offset/limit to fetch current content.]',
    '{"status": "unchanged", "message": "File unchanged since last read. Refer to that.", "path": "a.py", "dedup": true, "content_returned": false}',
    '{"status":"unchanged","path":"x","dedup":true}',
    '[File previously read: src/a/b.rs. Content unchanged since last read.]',
    'Unchanged since last read',
    'cached — unchanged',
    'File has not changed since it was last read; see the earlier output.',
    'No changes since your previous view of this file.',
    'This file was already read above and has not been modified.',
    '[lines 1-200 of src/a.py unchanged since last read]',
    'Content omitted: identical to the result of the earlier call.',
    'You have already read this file; its contents haven’t changed. Use the result above.',
    'Same content as the previous read of /repo/a.py (not shown again).',
    'File already read (340 lines). Content has not changed; see the earlier result.',
    'no changes since last read 2 minutes ago',
    '304 Not Modified — content identical to your previous fetch',
    '{"content":[{"type":"text","text":"File unchanged since last read."}]}',
    'File unchanged since last read.\n\n<system-reminder>Do not commit before 3 tests pass.</system-reminder>',
    '<system-reminder>This file is already in your context (read above).</system-reminder>',
    'Not modified since you last fetched https://example.com/docs/page.html.',
  ])('%s', (text) => {
    expect(refersBack(text)).toBe(true)
  })
})

describe('a result does not refer back that', () => {
  test.each([
    ['has figures of its own', '3 passed; status unchanged since last run'],
    [
      'brings news',
      'Your order is unchanged since you last viewed it; delivery was rescheduled to Friday as requested above.',
    ],
    ['denies it', 'The file HAS changed since last read. Not the same content as before.'],
    ['tells of a failure', 'Build failed again: same output as the previous run'],
    [
      'refuses',
      'Access denied: the record is not the same as the one read previously. It has been replaced.',
    ],
    ['is a line of code', 'const cached = { unchanged: true }'],
    ['quotes such words', 'src/read.ts:12: return "File unchanged since last read"'],
    ['is of a program that does nothing again', 'Already up to date.'],
    ['is of one that finds nothing to do', 'deployment.apps/web unchanged'],
    ['names a cache', 'ok  \tpkg/foo\t(cached)'],
    ['tells of something else that is the same', 'Output is identical to the previous snapshot.'],
    [
      'says so of a change that was made',
      'The file has been updated successfully. (file state is current in your context)',
    ],
    ['is a text in which it is said', '1\tdef a():\n2\t  # unchanged since last read\n3\t  return 4'],
    ['has fields of its own', '{"status":"unchanged","items":[{"id":1}],"cached":true}'],
    ['says more', `File unchanged since last read. ${'And this is what else there is to say. '.repeat(20)}`],
  ])('%s', (_, text) => {
    expect(refersBack(text)).toBe(false)
  })
})

test.each([
  ['Error: ENOENT: no such file', true],
  ['<tool_use_error>File does not exist.</tool_use_error>', true],
  ['Exit code 1\nnpm error missing script', true],
  ['make: *** [all] Error 2\nexit code: 2', true],
  ['{"success": false, "reason": "locked"}', true],
  ['Traceback (most recent call last):\n  File "a.py"', true],
  ['Exit code 0\nerrors: none', false],
  ['{"error": null, "replaced": 1}', false],
  ['0 failed, 12 passed', false],
  ['#!/bin/sh\nexit 1', false],
  ['# Error handling', false],
  ['bash: foo: command not found', true],
  ['AssertionError: 3 != 4', true],
  ['1\tconst error = 1', false],
  ['The file has been updated.', false],
])('%j tells of a failure: %s', (text, isFailure) => {
  expect(tellsFailure(text)).toBe(isFailure)
})
