import { startFoldgate } from './foldgate.ts'
import { startServer } from './real-server.ts'
import type { SceneReport } from './report.ts'
import type { Stand } from './stand.ts'

export const rootHead = ['path', 'from the server', 'through Foldgate']

/**
 * What llama.cpp's server answers beside `/v1` reaches a client through Foldgate as well, although the base that
 * Foldgate was given ends with `/v1`.
 */
export async function runRootPaths({ pythons, models }: Stand): Promise<readonly SceneReport[]> {
  const server = await startServer(pythons['llama-cpp'], {
    kind: 'llama-cpp',
    model: models.lenient,
    contextTokens: 4096,
  })
  const foldgate = await startFoldgate(server.origin)
  const reports: SceneReport[] = []
  for (const { path, body } of paths) {
    const [direct, through] = [
      await answerOf(server.origin, path, body),
      await answerOf(foldgate.origin, path, body),
    ]
    reports.push({
      cells: [path, direct.status, through.status],
      missed:
        direct.status === 200 && direct.shape === through.shape
          ? []
          : [`${path} is answered with ${through.status} ${through.shape}, and not ${direct.shape}`],
    })
  }
  await foldgate.stop()
  await server.stop()
  return reports
}

// --- internal ---

const paths = [
  { path: '/props', body: null },
  { path: '/slots', body: null },
  { path: '/metrics', body: null },
  { path: '/tokenize', body: '{"content":"to be counted"}' },
  { path: '/v1/models', body: null },
]

/** The status, and the beginning of the text with its figures left out: some change from one moment to the next. */
async function answerOf(origin: string, path: string, body: string | null) {
  const init = body === null ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } }
  const answer = await fetch(origin + path, init)
  const text = await answer.text()
  return { status: answer.status, shape: text.slice(0, SHOWN_CHARS).replaceAll(/\d+/g, '…') }
}

const SHOWN_CHARS = 60
