import { beforeAll, describe, expect, test } from 'vitest'
import type { Feature, Matrix } from './matrix.ts'
import { agentStand, LAST_WORDS, ROUNDS, type AgentStand } from './stand/agent-stand.ts'
import { expectCompacted, type Made } from './stand/expect-compacted.ts'
import { messagesStand, type MessagesStand } from './stand/messages-stand.ts'
import { installPython, pythonVersionOf, runPython, whyThereIsNoPython } from './stand/python.ts'
import { responsesStand, type ResponsesStand } from './stand/responses-stand.ts'

/** Clients of Python's, each an agent of its own making in a process of its own. */
export function pythonClients(matrix: Matrix): void {
  const missing = whyThereIsNoPython()
  const isAbsent = missing !== null
  if (isAbsent) process.stderr.write(`Python clients are skipped: ${missing}.\n`)
  describe.skipIf(isAbsent)('clients of Python', () => {
    beforeAll(installPython, INSTALL_MS)

    for (const { name, packageName, script, stand, feature, made, lacks } of clients) {
      const shows = matrix.client(name, packageName, {
        isAbsent,
        versionOf: pythonVersionOf,
        lacks: lacks ?? [],
      })
      test(
        `${name} reads files until the window would have overflowed`,
        shows(feature, async () => {
          await using at = await stand()
          const { said, read } = await runPython(script, at.url)
          if (feature === 'structured') {
            expect(said).toEqual({ longest: 'src/main.ts', lines: 20 })
            return expectCompacted(at, 1)
          }
          expect(said).toBe(LAST_WORDS)
          expect(new Set(read).size).toBe(ROUNDS)
          return expectCompacted(at, ROUNDS + 1, made)
        }),
      )
    }
  })
}

// --- internal ---

/** Some eighty packages come over the network. */
const INSTALL_MS = 600_000

type PythonClient = {
  readonly name: string
  readonly packageName: string
  readonly script: string
  readonly stand: () => Promise<AgentStand | MessagesStand | ResponsesStand>
  readonly feature: Feature
  readonly made?: Made
  readonly lacks?: readonly Feature[]
}

const clients: readonly PythonClient[] = [
  {
    name: 'OpenAI SDK, Python',
    packageName: 'openai',
    script: 'openai_sdk.py',
    stand: agentStand,
    feature: 'loop',
  },
  {
    name: 'OpenAI SDK, Python, Responses API',
    packageName: 'openai',
    script: 'openai_responses.py',
    stand: () => responsesStand('through Foldgate'),
    feature: 'streamedLoop',
    made: { form: 'streamed', path: '/v1/responses' },
  },
  {
    name: 'Anthropic SDK, Python, Messages API',
    packageName: 'anthropic',
    script: 'anthropic_sdk.py',
    stand: () => messagesStand('through Foldgate'),
    feature: 'streamedLoop',
    made: { form: 'streamed', path: '/v1/messages' },
    lacks: ['embeddings'],
  },
  {
    name: 'LangChain, Python',
    packageName: 'langchain-openai',
    script: 'langchain_agent.py',
    stand: agentStand,
    feature: 'loop',
    lacks: ['files'],
  },
  {
    name: 'OpenAI Agents SDK, Python',
    packageName: 'openai-agents',
    script: 'agents_sdk.py',
    stand: agentStand,
    feature: 'loop',
    lacks: ['embeddings', 'files'],
  },
  {
    name: 'Pydantic AI',
    packageName: 'pydantic-ai-slim',
    script: 'pydantic_ai_agent.py',
    stand: agentStand,
    feature: 'loop',
    lacks: ['files'],
  },
  {
    name: 'Instructor',
    packageName: 'instructor',
    script: 'instructor_client.py',
    stand: agentStand,
    feature: 'structured',
    lacks: ['loop', 'streamedLoop', 'wholeWindow', 'embeddings', 'files'],
  },
]
