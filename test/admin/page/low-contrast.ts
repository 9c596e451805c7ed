import type { Page } from 'playwright-core'

/**
 * The texts of a page whose contrast is below what WCAG 2.2 wants at level AA (1.4.3): 4.5 to 1. Large text may have
 * less, which nothing here makes use of.
 */
export async function lowContrast(page: Page): Promise<unknown> {
  return page.evaluate(`(${findLowContrast})()`)
}

// --- internal ---

/** Runs in the page, where there are the types of none of ours. */
const findLowContrast = `() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number)
  const linear = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor)
      if (color.length < 4 || color[3] === 1) return color
    }
    return [255, 255, 255]
  }
  const found = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode() !== null) {
    const element = walker.currentNode.parentElement
    if (walker.currentNode.data.trim() === '' || !element.checkVisibility()) continue
    const style = getComputedStyle(element)
    const color = channels(element instanceof SVGElement ? style.fill : style.color)
    const [light, dark] = [luminance(color), luminance(behind(element))].sort((one, other) => other - one)
    const contrast = (light + 0.05) / (dark + 0.05)
    if (contrast < 4.5) found.push(element.className + ': ' + walker.currentNode.data.trim() + ' ' + contrast.toFixed(2))
  }
  return found
}`
