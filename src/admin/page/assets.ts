import { readFileSync } from 'node:fs'

export type PageAsset = {
  readonly body: string
  /** The `content-type`. */
  readonly type: string
}

/** Where the pages find their files. */
export const assetPaths = {
  style: '/assets/page.css',
  script: '/assets/page.js',
  icon: '/assets/icon.svg',
} as const

/** What the pages load, by path. Read at first use from beside this file, in `src` as in `dist`. Throws if one is missing. */
export function pageAssets(): ReadonlyMap<string, PageAsset> {
  held ??= new Map(
    Object.values(assetPaths).map((path) => [path, { body: readAsset(path), type: typeOf(path) }]),
  )
  return held
}

/**
 * What the pages may load and do: what this listener serves, and nothing inline. A text of a conversation that got into
 * a page as markup all the same would run nothing and send nothing.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

// --- internal ---

let held: ReadonlyMap<string, PageAsset> | null = null

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
}

function readAsset(path: string): string {
  return readFileSync(new URL(`.${path}`, import.meta.url), 'utf8')
}

function typeOf(path: string): string {
  return types[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}
