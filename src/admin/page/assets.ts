import { readFileSync } from 'node:fs'

/** Where the pages find their files. */
export const assetPaths = {
  style: '/assets/page.css',
  script: '/assets/page.js',
  icon: '/assets/icon.svg',
} as const

/**
 * What the pages load, by path, each with its `content-type`. Read at first use from beside this file, in `src` as in
 * `dist`. Throws if one is missing.
 */
export function pageAssets(): ReadonlyMap<string, { readonly body: string; readonly type: string }> {
  held ??= new Map(
    types.map(([name, type]) => {
      const path = assetPaths[name]
      return [path, { body: readFileSync(new URL(`.${path}`, import.meta.url), 'utf8'), type }]
    }),
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

let held: ReturnType<typeof pageAssets> | null = null

const types = [
  ['style', 'text/css; charset=utf-8'],
  ['script', 'text/javascript; charset=utf-8'],
  ['icon', 'image/svg+xml; charset=utf-8'],
] as const
