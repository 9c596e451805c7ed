/** The number of a row that an id names, where ids are plain numbers; null for anything else. */
export function rowNumber(id: string | null): number | null {
  return id !== null && /^\d{1,15}$/.test(id) ? Number(id) : null
}
