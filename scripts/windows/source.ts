import type { Figures, WindowFigures } from './figures.ts'

/**
 * The generated file: a line for each host with its windows, and one for each window that a name has wherever it is served, so
 * that a new version of the data shows as the lines that changed. A window is written `8192`, or `input 8192` where it limits the
 * prompt alone, and the names that have it stand behind it.
 */
export function figuresSource(
  dataSet: { readonly name: string; readonly version: string },
  { hosts, names }: WindowFigures,
): string {
  const sorted = [...hosts].sort(([a], [b]) => compare(a, b))
  const hostLines = sorted.map(
    ([host, figures]) => `    ${JSON.stringify(host)}: { ${rowsOf(figures).join(', ')} }`,
  )
  return `{
  "source": "Generated from ${dataSet.name} ${dataSet.version} (MIT), whose data come from models.dev (MIT): see NOTICE. Not to be edited: node scripts/window-table.ts FOLDER writes it, corrections are in scripts/windows/corrections.ts.",
  "hosts": {
${hostLines.join(',\n')}
  },
  "names": {
${rowsOf(names)
  .map((row) => `    ${row}`)
  .join(',\n')}
  }
}
`
}

// --- internal ---

/** The smaller windows first, and what limits the prompt alone behind them. */
function rowsOf(figures: Figures): readonly string[] {
  const byWindow = Map.groupBy(figures.keys(), (name) => {
    const { tokens = 0, kind = 'total' } = figures.get(name) ?? {}
    return `${kind === 'input' ? 'input ' : ''}${tokens}`
  })
  return [...byWindow]
    .sort(([a], [b]) => isInput(a) - isInput(b) || Number(a.match(/\d+/)) - Number(b.match(/\d+/)))
    .map(([window, names]) => `${JSON.stringify(window)}: ${JSON.stringify(names.sort(compare).join(' '))}`)
}

function isInput(window: string): number {
  return Number(window.startsWith('input '))
}

/** By code unit: the same everywhere, whatever the machine's language. */
function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
