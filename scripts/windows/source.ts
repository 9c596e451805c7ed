import type { Figures, WindowFigures } from './figures.ts'

/** The generated file: figures only, a row a line, so that a new version of the data shows as the lines that changed. */
export function figuresSource(
  dataSet: { readonly name: string; readonly version: string },
  { hosts, names }: WindowFigures,
): string {
  const sections = [...hosts].sort(([a], [b]) => compare(a, b)).map(([host, rows]) => section(host, rows))
  return `// Generated from ${dataSet.name} ${dataSet.version} (MIT), whose data come from models.dev (MIT): see NOTICE.
// Not to be edited: \`node scripts/window-table.ts FOLDER\` writes it; corrections are in scripts/windows/corrections.ts.

/**
 * Windows in tokens. A line with \`@\` names hosts (a \`*\` is any part of one), \`@ *\` all others; the lines below it are
 * models by listed name, with \`input\` where the figure limits the prompt alone.
 */
export const windowFigures: string = \`
${[...sections, section('*', names)].join('\n')}
\`
`
}

// --- internal ---

function section(host: string, rows: Figures): string {
  const lines = [...rows]
    .sort(([a], [b]) => compare(a, b))
    .map(([name, { tokens, kind }]) => `${name} ${tokens}${kind === 'input' ? ' input' : ''}`)
  return [`@ ${host}`, ...lines].join('\n')
}

/** By code unit: the same everywhere, whatever the machine's language. */
function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
