import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Dice, openDice } from '../../../src/commands/demo/dice.ts'
import { sampleSource } from '../../../src/commands/demo/tools.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import type { ReadingAgent } from './reading-agents.ts'
import { type LoopRequest, startReadingModel } from './reading-models.ts'
import { runProgram } from './installed-program.ts'

export const TASK = 'Report on the files of this folder, one after the other.'
export const LAST_WORDS = 'The report on all files is complete.'

/** A file that was read: its lines, of which the first, the middle and the last stand in no other file. */
export type ReadFile = { readonly name: string; readonly lines: readonly string[]; readonly tokens: number }

export type ReadingStand = {
  readonly files: readonly ReadFile[]
  readonly run: (task: string, options?: RunOptions) => ReturnType<typeof runProgram>
  readonly requests: () => readonly LoopRequest[]
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

type RunOptions = { readonly args?: readonly string[] }

/** Lays a folder of files out for an agent, for a model that asks for one after the other and then has done. */
export async function openReadingStand(
  agent: ReadingAgent,
  how: 'alone' | 'through Foldgate',
): Promise<ReadingStand> {
  const counter = await loadCounter('o200k_base')
  const home = await mkdtemp(join(tmpdir(), 'foldgate-agent-'))
  const folder = join(home, 'work')
  const files = await layOut(folder, counter.count)
  const upstream = await startReadingModel(agent.dialect, {
    windowTokens: agent.windowTokens,
    folder,
    files: [...files.slice(0, agent.rounds), ...files.slice(0, agent.again ?? 0)].map(({ name }) => name),
    lastWords: LAST_WORDS,
  })
  const window = { tokens: agent.windowTokens, output_reserve: agent.outputTokens }
  const foldgate =
    how === 'alone' ? null : await startFoldgate({ upstream: upstream.url, profile: { window } })
  const behind = foldgate?.url ?? upstream.url
  const front = await agent.front?.({ home, baseUrl: behind })
  const baseUrl = front?.url ?? behind
  return {
    files,
    run: async (task, { args = [] } = {}) => {
      const program = await agent.prepare({ home, folder, baseUrl, task })
      return runProgram({ ...program, args: [...program.args, ...args] })
    },
    requests: () => upstream.requests(),
    [Symbol.asyncDispose]: async () => {
      await front?.close()
      await rm(home, { recursive: true })
      await foldgate?.close()
      await upstream.close()
    },
  }
}

export async function haveFilesRead(agent: ReadingAgent, how: 'alone' | 'through Foldgate', task = TASK) {
  await using stand = await openReadingStand(agent, how)
  const { exitCode, output } = await stand.run(task)
  const requests = stand.requests()
  return {
    exitCode,
    output,
    files: stand.files,
    loop: requests.filter(({ isLoop }) => isLoop),
    aside: requests.filter(({ isLoop }) => !isLoop),
  }
}

/** Fills a folder with files of nearly one size, so that every round takes as much. */
export async function layOut(folder: string, count: (text: string) => number): Promise<readonly ReadFile[]> {
  await mkdir(folder)
  const dice = openDice(30)
  const files = Array.from({ length: FILES }, (_, index) => makeFile(dice, index + 1, count))
  for (const { name, lines } of files) await writeFile(join(folder, name), `${lines.join('\n')}\n`)
  return files
}

const FILE_TOKENS = 1_200
const FILES = 50

function makeFile(dice: Dice, number: number, count: (text: string) => number): ReadFile {
  const mark = (place: string) => `// The ${place} line of file ${number}: ${dice.hex(12)}`
  const [first, middle, last] = [mark('first'), mark('middle'), mark('last')]
  const source = sampleSource(dice, 200).split('\n')
  const withLines = (length: number) => {
    const half = Math.floor(length / 2)
    return [first, ...source.slice(0, half), middle, ...source.slice(half, length), last]
  }
  let length = 0
  while (count(withLines(length).join('\n')) < FILE_TOKENS) length += 1
  const lines = withLines(length)
  return { name: `file-${number}.ts`, lines, tokens: count(lines.join('\n')) }
}
