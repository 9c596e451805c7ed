import type { Figure, Figures, WindowFigures } from './figures.ts'

/** The generated file, a figure a line, so that a new version of the data shows as the lines that changed. */
export function figuresSource(
  dataSet: { readonly name: string; readonly version: string },
  { hosts, names }: WindowFigures,
): string {
  const sorted = [...hosts].sort(([a], [b]) => compare(a, b))
  return `{
  "source": "Generated from ${dataSet.name} ${dataSet.version} (MIT), whose data come from models.dev (MIT): see NOTICE. Not to be edited: node scripts/window-table.ts FOLDER writes it, corrections are in scripts/windows/corrections.ts.",
  "hosts": {
${sorted.map(([host, figures]) => `    ${JSON.stringify(host)}: ${section(figures, '    ')}`).join(',\n')}
  },
  "names": ${section(names, '  ')}
}
`
}

// --- internal ---

function section(figures: Figures, indent: string): string {
  const lines = [...figures]
    .sort(([a], [b]) => compare(a, b))
    .map(([name, figure]) => `${indent}  ${JSON.stringify(name)}: ${written(figure)}`)
  return `{\n${lines.join(',\n')}\n${indent}}`
}

function written({ tokens, kind }: Figure): string {
  return kind === 'total' ? `${tokens}` : `{ "input": ${tokens} }`
}

/** By code unit: the same everywhere, whatever the machine's language. */
function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
