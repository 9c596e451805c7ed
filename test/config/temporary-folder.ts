import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Has something done when a test is over: the running one's, or `onTestFinished` of a concurrent one's context. */
export type OnEnd = (cleanUp: () => Promise<void> | void) => void

/** A folder with these files, removed when the test is over. */
export async function temporaryFolder(
  files: Readonly<Record<string, string>> = {},
  onEnd: OnEnd = onTestFinished,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'foldgate-config-'))
  onEnd(() => rm(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}
