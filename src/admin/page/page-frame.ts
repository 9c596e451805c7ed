import { clock, foreign, html, type HtmlEscapedString, timeElement } from './markup.ts'
import { readFileSync } from 'node:fs'
import { type Status, statusWords } from '../../telemetry/status.ts'

/** What every page says of this Foldgate. */
export type PageSetting = {
  readonly now: Date
  readonly version: string
  /** Where records are kept, without secrets: `sqlite:/var/lib/…`, `memory:`. */
  readonly store: string
  readonly status: Status
}

export type LayoutOptions = PageSetting & {
  readonly title: string
  /** The conversation that the page is about; null: all of them. Changes of others do not renew it. */
  readonly conversation: string | null
  readonly main: HtmlEscapedString
}

/**
 * A whole page. The script renews the elements that are marked `data-live`; each has an id, and none stands in
 * another one.
 */
export function layout({ title, conversation, main, ...setting }: LayoutOptions): HtmlEscapedString {
  const { status } = setting
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/assets/page.css" />
        <script type="module" src="/assets/page.js"></script>
      </head>
      <body data-conversation="${conversation ?? ''}">
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="22" height="22" />Foldgate</a>
          <p id="status" class="status ${status.well ? 'well' : 'bad'}" data-live role="status">
            ${status.well ? statusWords(status) : html`<a href="#troubles">${statusWords(status)}</a>`}
          </p>
          <p id="connection" class="connection" role="status"></p>
          <noscript
            ><p class="connection">
              Without its script this page stays as it was at
              ${clock(setting.now.toISOString(), setting.now)}.
            </p></noscript
          >
        </header>
        <main id="main" tabindex="-1">${troubleList(setting)} ${main}</main>
        ${footer(setting)}
      </body>
    </html>`
}

/**
 * What the pages load, by path, each with its `content-type`. Read at first use from beside this file, in `src` as in
 * `dist`. Throws if one is missing.
 */
export function pageAssets(): ReadonlyMap<string, { readonly body: string; readonly type: string }> {
  held ??= new Map(
    Object.entries(types).map(([path, type]) => [
      path,
      { body: readFileSync(new URL(`.${path}`, import.meta.url), 'utf8'), type },
    ]),
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
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

// --- internal ---

/** What is not well; nothing if all is, but the place for it. */
function troubleList({ status, now }: PageSetting): HtmlEscapedString {
  return html`<section
    id="troubles"
    class="note bad"
    data-live
    aria-label="What is not well"
    ${status.well && html`hidden`}
  >
    ${status.troubles.map(({ what, since, advice }) => html`<p>${foreign(what)} since ${timeElement(since, `${clock(since, now)} UTC`)}: ${foreign(advice)}.</p>`)}
  </section>`
}

function footer({ now, version, store }: PageSetting): HtmlEscapedString {
  const instant = now.toISOString()
  return html`<footer id="footer" data-live>
    <span>Foldgate ${version}</span>
    <span>records in <code>${store}</code></span>
    <span>as of ${timeElement(instant, `${clock(instant, now)} UTC`)}</span>
  </footer>`
}

let held: ReturnType<typeof pageAssets> | null = null

const types = {
  '/assets/page.css': 'text/css; charset=utf-8',
  '/assets/page.js': 'text/javascript; charset=utf-8',
  '/assets/icon.svg': 'image/svg+xml; charset=utf-8',
}
