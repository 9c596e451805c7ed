/** What is printed of a scene, and what it did not show. */
export type SceneReport = {
  readonly cells: readonly (string | number)[]
  readonly missed: readonly string[]
}

/** A cell as it is printed. */
export function shown(cell: string | number): string {
  return typeof cell === 'number' ? cell.toLocaleString('en-US') : cell
}
