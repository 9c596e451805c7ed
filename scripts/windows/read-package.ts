import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/** One model at one provider, as the data set has it. */
export type DataRow = {
  /** The data set's name of the provider: the file's name. */
  readonly provider: string
  /** The API that the data set reaches the model by. */
  readonly api: string
  /** The URL that requests go to; empty where every customer has one of their own. */
  readonly baseUrl: string
  readonly id: string
  readonly windowTokens: number
  /** The most that a reply may take. */
  readonly outputTokens: number
}

export type DataSet = { readonly name: string; readonly version: string; readonly rows: readonly DataRow[] }

/**
 * The chat models of an unpacked `@earendil-works/pi-ai`. Throws where it is another package, under another licence than the
 * one that NOTICE states, or built otherwise than expected.
 */
export async function readPackage(folder: string): Promise<DataSet> {
  const { name, version } = Package.parse(await readJson(join(folder, 'package.json')))
  const dataFolder = join(folder, 'dist', 'providers', 'data')
  const files = (await readdir(dataFolder)).filter((file) => /^[a-z].*\.json$/.test(file)).sort()
  const rows: DataRow[] = []
  for (const file of files) {
    const apis = ProviderData.parse(await readJson(join(dataFolder, file)))
    for (const [api, models] of Object.entries(apis)) {
      for (const model of Object.values(models)) {
        if (model.type !== 'chat') continue
        const { id, baseUrl, contextWindow, maxTokens } = ChatModel.parse(model)
        rows.push({
          provider: file.slice(0, -'.json'.length),
          api,
          baseUrl,
          id,
          windowTokens: contextWindow,
          outputTokens: maxTokens,
        })
      }
    }
  }
  return { name, version, rows }
}

// --- internal ---

const Package = z.looseObject({
  name: z.literal('@earendil-works/pi-ai'),
  version: z.string(),
  license: z.literal('MIT'),
})

/** By API, then by a key of the data set's own. */
const ProviderData = z.record(z.string(), z.record(z.string(), z.looseObject({ type: z.string() })))

const ChatModel = z.looseObject({
  // The figures file separates by white space.
  id: z.string().regex(/^[\w@:./~+-]+$/),
  baseUrl: z.string(),
  contextWindow: z.int().positive(),
  maxTokens: z.int().positive(),
})

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'))
}
