import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pythonFolder } from './install.ts'
import { startProgram, workFolder } from './programs.ts'
import { smallVocabulary } from './vocabulary.ts'

export const templates = ['lenient', 'strict'] as const

/**
 * What a model's chat template makes of roles: the lenient one writes whatever comes, the strict one refuses all but user
 * and assistant in turn, calls and results aside, as Mistral's do.
 */
export type Template = (typeof templates)[number]

/** Writes a model for each template; returns their files. */
export async function makeModels(python: string): Promise<Readonly<Record<Template, string>>> {
  const folder = join(workFolder(), 'models')
  mkdirSync(folder)
  const vocabulary = join(folder, 'vocabulary.json')
  writeFileSync(vocabulary, JSON.stringify(smallVocabulary()))
  const files = { lenient: join(folder, 'lenient.gguf'), strict: join(folder, 'strict.gguf') }
  for (const template of templates) {
    const written = fileURLToPath(new URL(`templates/${template}.jinja`, import.meta.url))
    const args = [join(pythonFolder, 'tiny_model.py'), vocabulary, written, files[template]]
    const program = startProgram(python, args)
    if ((await program.ended) !== 0) throw new Error(`The model was not written:\n${program.lastWords()}`)
  }
  return files
}
