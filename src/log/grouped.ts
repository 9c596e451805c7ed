/** A number with its thousands apart. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
