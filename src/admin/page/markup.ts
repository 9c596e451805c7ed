import { html as honoHtml } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

export type { HtmlEscapedString } from 'hono/utils/html'

/** What may stand in a template: text and numbers, which are escaped, markup, and nothing. */
export type MarkupPart = string | number | HtmlEscapedString | false | null | readonly MarkupPart[]

/** Markup from a template. Everything that is put into it is escaped, in text as in quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): HtmlEscapedString {
  const made = honoHtml(strings, ...parts)
  if (made instanceof Promise)
    throw new TypeError('A page is made of what is there: a part of it is a promise.')
  return made
}

/**
 * Text from outside (a label, a model, a tool). Set apart from what stands around it: characters that turn the writing
 * direction turn nothing else.
 */
export function foreign(text: string): HtmlEscapedString {
  return html`<bdi>${text}</bdi>`
}
