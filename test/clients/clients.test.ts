import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { agentsSdk, agentsSdkResponses } from './agents-sdk.ts'
import { aiSdk, aiSdkMessages, aiSdkResponses } from './ai-sdk.ts'
import { anthropic, anthropicRunner } from './anthropic.ts'
import { claudeCodeCompact, codingAgent, readAgain, wholeWindow } from './coding-agents.ts'
import { chatLibrary, messagesApi, responsesApi, thinkingLibrary } from './errands.ts'
import { langchain, langchainMessages } from './langchain.ts'
import { openMatrix } from './matrix.ts'
import { ollamaLibraries } from './ollama.ts'
import { azureOpenai, openai, openaiResponses } from './openai.ts'
import { pythonClients } from './python-clients.ts'

const matrix = openMatrix()

for (const library of [openai, azureOpenai, aiSdk, langchain, agentsSdk]) chatLibrary(matrix, library)
for (const library of [openaiResponses, aiSdkResponses, agentsSdkResponses])
  thinkingLibrary(matrix, responsesApi, library)
for (const library of [anthropic, anthropicRunner, aiSdkMessages, langchainMessages])
  thinkingLibrary(matrix, messagesApi, library)
ollamaLibraries(matrix)
pythonClients(matrix)
codingAgent(matrix)
wholeWindow(matrix)
claudeCodeCompact(matrix)
readAgain()

// One file for all: its last test knows what those before it have shown.
test('docs/clients.md says what these tests have shown', async () => {
  expect(matrix.missing()).toEqual([])
  const page = fileURLToPath(new URL('../../docs/clients.md', import.meta.url))
  await expect(await matrix.page(await readFile(page, 'utf8'))).toMatchFileSnapshot(page)
})
