import type { Page } from 'playwright-core'

/** The classes of all elements that are seen and have something red about them: text, ground, border or drawing. */
export async function redIn(page: Page, within = 'body'): Promise<unknown> {
  return page.evaluate(`(${findRed})(${JSON.stringify(within)})`)
}

// --- internal ---

/** Runs in the page, where there are the types of none of ours. Red is a hue between 340 and 20 degrees that is no grey. */
const findRed = `(within) => {
  const isRed = (color) => {
    const [red, green, blue, alpha = 1] = color.match(/[\\d.]+/g)?.map(Number) ?? []
    if (red === undefined || alpha === 0) return false
    const spread = red - Math.min(green, blue)
    return red > Math.max(green, blue) && spread > 40 && Math.abs(green - blue) < spread / 3
  }
  const found = []
  for (const root of document.querySelectorAll(within)) {
    for (const element of [root, ...root.querySelectorAll('*')]) {
      if (!element.checkVisibility()) continue
      const style = getComputedStyle(element)
      const colors = [style.color, style.backgroundColor, style.borderTopColor, style.borderLeftColor]
      const drawn = element instanceof SVGElement ? [style.fill, style.stroke] : []
      for (const mark of ['::before', '::after']) {
        const made = getComputedStyle(element, mark)
        if (made.content !== 'none') colors.push(made.color, made.backgroundColor)
      }
      if ([...colors, ...drawn].some(isRed)) found.push(String(element.getAttribute('class')))
    }
  }
  return found
}`
