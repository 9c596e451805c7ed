import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { agentsSdk } from './agents-sdk.ts'
import { aiSdk } from './ai-sdk.ts'
import { azureOpenai } from './azure-openai.ts'
import { claudeCodeCompact } from './claude-code-compact.ts'
import { codingAgent } from './coding-agent.ts'
import { langchain } from './langchain.ts'
import { openMatrix } from './matrix.ts'
import { messagesApi } from './messages-api.ts'
import { openai } from './openai.ts'
import { openaiRecall } from './openai-recall.ts'
import { pythonClients } from './python-clients.ts'
import { responsesApi } from './responses-api.ts'
import { wholeWindow } from './whole-window.ts'

const matrix = openMatrix()

openai(matrix)
azureOpenai(matrix)
openaiRecall()
aiSdk(matrix)
langchain(matrix)
agentsSdk(matrix)
responsesApi(matrix)
messagesApi(matrix)
pythonClients(matrix)
codingAgent(matrix)
wholeWindow(matrix)
claudeCodeCompact(matrix)

// One file for all: its last test knows what those before it have shown.
test('docs/clients.md says what these tests have shown', async () => {
  expect(matrix.missing()).toEqual([])
  const page = fileURLToPath(new URL('../../docs/clients.md', import.meta.url))
  await expect(await matrix.page(await readFile(page, 'utf8'))).toMatchFileSnapshot(page)
})
