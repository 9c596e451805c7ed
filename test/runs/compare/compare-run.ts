/**
 * `foldgate compare` against a real model, of which nobody knows the answers before.
 *
 *   npm run comparison -- MODEL.gguf [FOLDER] [--pairs N] [--window N] [--full N]
 *
 * Takes Python 3, and a model's file that llama.cpp runs; llama-cpp-python's server is installed as `npm run servers` does: it
 * has small models call tools, whose calls its grammar writes around the arguments that the model chooses. What is compared are
 * the recorded conversations of FOLDER, or made ones of agents that read files. The plan must send nothing; the run, which is
 * interrupted and started again, must send each request once. Prints what a user sees, and `as promised`, or what was missed
 * and 1. What the model answers is not judged.
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { prose } from '../../compaction/sending.ts'
import { startCommand } from '../../support/run-command.ts'
import { endAllWithThis, findPython, install, workFolder } from '../servers/programs.ts'
import { startServer } from '../servers/real-server.ts'
import { openTap } from '../servers/tap.ts'

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))

const FILES = 8

const said = (role: string, content: string) => ({ role, content })

const tool = {
  type: 'function',
  function: {
    name: 'read_file',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
}

endAllWithThis()
process.exitCode = await compareWithModel()

async function compareWithModel(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      pairs: { type: 'string', default: '6' },
      window: { type: 'string', default: '900' },
      full: { type: 'string', default: '2048' },
    },
  })
  const [model, folder] = positionals
  if (model === undefined) return say('Which model? npm run comparison -- MODEL.gguf [FOLDER]', 1)
  const found = await findPython()
  const installed = 'missing' in found ? found : await install('llama-cpp-python', found.version)
  if ('missing' in installed) return say(`Skipped: ${installed.missing}.`, 0)

  const server = await startServer(installed.python, {
    kind: 'llama-cpp-python',
    chatFormat: 'chatml-function-calling',
    model: resolve(model),
    contextTokens: Number(values.full),
  })
  const tap = await openTap(server.origin)
  const recorded = folder === undefined ? madeRecordings() : resolve(folder)
  const flags = [
    '--pairs',
    values.pairs,
    '--window',
    values.window,
    '--max-output',
    '64',
    '--store',
    'memory:',
  ]
  const start = (...more: readonly string[]) =>
    startCommand(
      process.execPath,
      [main, 'compare', recorded, '--upstream', `${tap.origin}/v1`, '--model', 'tiny', ...flags, ...more],
      { cwd: workFolder(), env: { HOME: workFolder() } },
    )
  const missed: string[] = []
  const must = (holds: boolean, what: string): void => {
    if (!holds) missed.push(what)
  }

  const plan = start()
  must((await plan.ended) === 0, 'a plan is told')
  say(plan.output())
  must(tap.take().length === 0, 'the plan sends nothing')

  const broken = start('--yes')
  await broken.said(/^1 of \d+ moments/m)
  broken.child.kill('SIGINT')
  must((await broken.ended) === 1, 'an interrupted run ends with 1')
  say(broken.stderr())
  const rest = start('--yes')
  must((await rest.ended) === 0, 'the second run goes through')
  say(rest.stdout() + rest.stderr())
  const sent = tap.take()
  must(
    sent.every(({ status }) => status === 200),
    'the server takes every request',
  )
  const moments = Number(/^(\d+) pairs/m.exec(rest.stdout())?.[1])
  must(sent.length === 3 * moments, 'no request is sent once more')
  const times = [...Map.groupBy(sent, ({ body }) => body).values()].map(({ length }) => length)
  must(times.filter((count) => count === 2).length === moments, 'every request in full is sent twice')

  await tap.close()
  await server.stop()
  for (const what of missed) say(`- ${what}`)
  return say(
    missed.length === 0 ? 'as promised' : `${missed.length} promises missed`,
    Math.min(missed.length, 1),
  )
}

function madeRecordings(): string {
  const file = join(workFolder(), 'made.jsonl')
  const rows = Array.from({ length: 10 }, (_, at) => ({
    messages: readingAgent(`agent${at}`),
    tools: [tool],
    // So small a model would rather talk.
    tool_choice: { type: 'function', function: { name: 'read_file' } },
    temperature: 0.7,
  }))
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'))
  return file
}

/** What an agent read comes as the user's: the server shows no results of tools to the model. */
function readingAgent(name: string): object[] {
  return [
    said('system', 'You mend programs. Use the tool read_file.'),
    said(
      'user',
      `The task of ${name}: read the files src/planted/0.ts to src/planted/9.ts one by one, each once.`,
    ),
    ...Array.from({ length: FILES }, (_, at) => [
      said('assistant', `I read src/planted/${at}.ts.`),
      said('user', prose(`src/planted/${at}.ts`, 120)),
    ]).flat(),
  ]
}

function say(text: string, exitCode = 0): number {
  process.stdout.write(`${text}\n`)
  return exitCode
}
