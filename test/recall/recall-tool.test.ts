import { expect, test } from 'vitest'
import { finish } from '../../src/conversation/source.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { plainToolsTokens, toolsTokens } from '../../src/tokens/tools-tokens.ts'
import { chatCompletions } from '../../src/dialects/chat-completions/chat-completions.ts'
import { recallTool } from '../../src/recall/recall-tool.ts'

const recallToolName = (taken: ReadonlySet<string>) => recallTool(taken).name
const plainTool = chatCompletions.recall.tool(recallTool(new Set()))

test('the tool has a name that no tool of the client’s has', () => {
  expect(recallToolName(new Set(['bash']))).toBe('recall_conversation')
  expect(recallToolName(new Set(['recall_conversation']))).toBe('recall_conversation_2')
  expect(recallToolName(new Set(['recall_conversation', 'recall_conversation_2']))).toBe(
    'recall_conversation_3',
  )
})

test('the tool is one that every server takes: a plain function without anything required', () => {
  const tool = plainTool
  expect(tool).toMatchObject({
    type: 'function',
    function: { name: 'recall_conversation', parameters: { type: 'object' } },
  })
  expect(JSON.stringify(tool)).not.toMatch(/strict|required|additionalProperties/)
  expect(recallToolName(new Set())).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
})

test('the tool costs little in each request', async () => {
  const counter = await loadCounter('o200k_base')
  const tools = [plainTool]
  expect(finish(toolsTokens(tools, counter, 'gpt-4o'))).toBeLessThan(200)
  expect(finish(plainToolsTokens(tools, counter))).toBeLessThan(250)
})
