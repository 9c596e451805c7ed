import { describe, expect, test } from 'vitest'
import { runAtOnce } from '../../src/json/source.ts'
import wordings from '../../src/summaries/clients-compaction-prompts.json' with { type: 'json' }
import { isCompactionPrompt } from '../../src/summaries/clients-compaction-prompts.ts'

describe("a client's own request for a summary", () => {
  test.each(wordings)('is recognised: $client', ({ sample }) => {
    expect(runAtOnce(isCompactionPrompt(sample))).toBe(true)
  })

  test.each([
    'Summarize everything above into notes.',
    'Can you summarise what we discussed above?',
    'please give me a short summary of our conversation so far',
    'TL;DR: summarize the above conversation',
    'Great work. Summarize all of the messages above.',
    'Summarize our conversation',
    'CRITICAL: no tools, TEXT ONLY\n\nYour task is to create a detailed\nsummary of the conversation so far',
    'Task\nSummarize the above\n\nThanks',
  ])('is recognised: %s', (text) => {
    expect(runAtOnce(isCompactionPrompt(text))).toBe(true)
  })

  test('is recognised in front of and behind the transcript that some clients put beside it', () => {
    const transcript = 'user: run the tests\nassistant: they fail\n'.repeat(2000)
    expect(
      runAtOnce(isCompactionPrompt(`*Briefly* summarize this partial conversation.\n${transcript}`)),
    ).toBe(true)
    expect(runAtOnce(isCompactionPrompt(`${transcript}\nDistill the above chat messages into one.`))).toBe(
      true,
    )
  })

  test.each([
    'summarize this paper',
    'Summarize the file above.',
    'Please summarize the above paper: Attention is all you need',
    'Summarize above changes in a commit message',
    'Summarize the conversation in chat.txt',
    'Write a function that summarizes the conversation so far',
    'Summarize this conversation between Ann and Bob:\nAnn: hi\nBob: hello',
    'Summarize the meeting notes so far',
    'Fasse das Dokument zusammen',
    'Résume ce document',
    'resume la conversación de Ana y Luis',
    '总结这篇文章',
    'この記事を要約してください',
    'Why does grep for `your task is to create a detailed summary` find nothing?',
    '',
  ])('is something else: %s', (text) => {
    expect(runAtOnce(isCompactionPrompt(text))).toBe(false)
  })

  test('is looked for at both ends of a text, however long it is', () => {
    const long = 'summarize the '.repeat(200_000)
    expect(runAtOnce(isCompactionPrompt(`${long}Summarize our conversation so far.${long}`))).toBe(false)
    expect(runAtOnce(isCompactionPrompt(`${long}. Summarize our conversation so far.`))).toBe(true)
  })

  // An expression that went back over its text again and again would take this test beyond its time.
  test('is not found in a long text of nothing but the beginnings of one', () => {
    for (const piece of ['summarize the ', 'please now ', '( ', 'fasse a b ', '总结一下', '\n'])
      expect([piece, runAtOnce(isCompactionPrompt(piece.repeat(200_000)))]).toEqual([piece, false])
  })
})
