import type { SourceFile } from './source-files.ts'

/** Names that more than one module exports, each with the modules: a reader has to ask which is meant. */
export function namesExportedTwice(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const modules = Map.groupBy(
    files.flatMap(({ path, text }) => exportedIn(text).map((name) => ({ name, path }))),
    ({ name }) => name,
  )
  const repeated = [...modules].filter(([, exporters]) => exporters.length > 1)
  return new Map(repeated.map(([name, exporters]) => [name, exporters.map(({ path }) => path)]))
}

// --- internal ---

const EXPORT = /^export (?:async )?(?:function\*?|const|class|type|interface) (\w+)/gm

function exportedIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(EXPORT)].map(([, name = '']) => name))]
}
