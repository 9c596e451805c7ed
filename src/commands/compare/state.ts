import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { z } from 'zod'
import { errorCode } from '../../config/yaml-file.ts'
import { parseJsonText } from '../../json/json-value.ts'
import { StoreError } from '../../storage/store-error.ts'

const tokens = z.number().nullable()

/** What is kept of an answer: nothing that it says. */
const verdict = z.strictObject({
  /** Digests of tools, paths and kinds of commands, equal where those of two replies to one moment are. */
  step: z.tuple([z.string(), z.string(), z.string()]),
  /** How many calls it makes. */
  calls: z.number(),
  /** By the upstream's own count, as far as it states one. */
  tokens: z.strictObject({ prompt: tokens, cached: tokens, reply: tokens }),
})

export type Verdict = z.output<typeof verdict>

const line = verdict.extend({ request: z.string() })

/** The answers of this run and those before it, each on disk before the next is asked for. */
export type State = Awaited<ReturnType<typeof openState>>

/** Opens the file, or makes it. Rejects with a `StoreError` where it is another one's, or cannot be written. */
export async function openState(path: string) {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants
  const trouble = (what: string): StoreError =>
    new StoreError(`${path} ${what}: name another file by --state FILE`)
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600).catch((error: unknown) => {
    throw trouble(`cannot be written (${errorCode(error)})`)
  })
  const text = await file.readFile('utf8')
  if (text !== '' && !text.startsWith(TITLE)) {
    await file.close()
    throw trouble('is no state of foldgate compare')
  }
  const known = new Map<string, Verdict>()
  for (const row of text.split('\n').slice(1)) {
    // The last one may have been cut by the end of the process: that request is sent again.
    const read = line.safeParse(parseJsonText(row))
    if (read.success) known.set(read.data.request, read.data)
  }
  // It may have been copied, or made readable.
  await file.chmod(0o600)
  if (!text.endsWith('\n')) await file.write(text === '' ? `${TITLE}\n` : '\n')
  return {
    of: (request: string): Verdict | null => known.get(request) ?? null,
    add: async (request: string, added: Verdict) => {
      known.set(request, added)
      await file.write(`${JSON.stringify({ request, ...added })}\n`)
    },
    close: () => file.close(),
  }
}

// --- internal ---

const TITLE = JSON.stringify({
  foldgate_compare: 1,
  about:
    'A line for each answer: SHA-256 digests of the request, and of the tools, paths and kinds of commands of its reply, made with the conversation itself so that nobody who lacks that can guess them; and token counts. No content, no keys. Delete it to ask again.',
})
