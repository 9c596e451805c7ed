import { writeFile } from 'node:fs/promises'
import { windowFigures } from './windows/figures.ts'
import { readPackage } from './windows/read-package.ts'
import { figuresSource } from './windows/source.ts'

// Writes src/models/table/window-figures.json from an unpacked data set: `npm pack @earendil-works/pi-ai@VERSION`, `tar xzf`, then
// `node scripts/window-table.ts package`. The same data always give the same bytes.

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  process.stderr.write('usage: node scripts/window-table.ts FOLDER_OF_PI_AI\n')
  process.exitCode = 2
} else {
  const dataSet = await readPackage(folder)
  const target = new URL('../src/models/table/window-figures.json', import.meta.url)
  await writeFile(target, figuresSource(dataSet, windowFigures(dataSet.rows)))
}
