import type { ModelCard } from '../models/model-cards.ts'
import { ago, plural, figure, moment } from './figures.ts'
import { foreign, html, type HtmlEscapedString } from './markup.ts'
import { windowWords } from './window-words.ts'

/** What is believed of the models in use, the one used last first, each with a button that has it forgotten. */
export function modelTable(models: readonly ModelCard[], now: Date): HtmlEscapedString {
  return html`<section aria-labelledby="models-title">
    <h2 id="models-title">Models</h2>
    <div id="models" data-live tabindex="-1" aria-labelledby="models-title" role="group">
      ${models.length === 0 ? html`<p class="soft">Nothing is believed of any model yet.</p>` : table(models, now)}
    </div>
    <p id="said" role="status" aria-live="polite"></p>
  </section>`
}

// --- internal ---

const MODELS_SHOWN = 20

function table(models: readonly ModelCard[], now: Date): HtmlEscapedString {
  const left = models.length - MODELS_SHOWN
  return html`<table>
      <thead>
        <tr>
          <th scope="col">Model</th>
          <th scope="col">Window</th>
          <th scope="col" class="right">Ratio</th>
          <th scope="col">Refuses</th>
          <th scope="col" class="right">Since</th>
          <th scope="col"><span class="hidden">What can be done</span></th>
        </tr>
      </thead>
      <tbody>
        ${models.slice(0, MODELS_SHOWN).map((card) => row(card, now))}
      </tbody>
    </table>
    ${left > 0 && html`<p class="soft">And ${figure(left)} more: <code>GET /models</code> lists them all.</p>`}`
}

function row(card: ModelCard, now: Date): HtmlEscapedString {
  const { id, upstream, credential, model, fields } = card
  const name = model === '' ? 'no model named' : foreign(model)
  const refused = refusedWords(fields)
  return html`<tr id="model-${id}">
    <th scope="row" class="text">
      ${name}
      <span class="under"><span>${foreign(upstream)}</span> <span>credential ${credential}</span></span>
    </th>
    <td class="text">${windowCell(card)}</td>
    <td class="right" data-name="ratio">${ratioCell(fields.ratio)}</td>
    <td class="text">${refused.join(', ')}</td>
    <td class="right soft">${sinceCell(card, now)}</td>
    <td class="right">
      <button
        type="button"
        aria-label="Forget what is believed of ${model}"
        data-method="DELETE"
        data-path="/models/${encodeURIComponent(id)}"
        data-done="Forgotten. The next answers teach it anew."
      >
        Forget
      </button>
    </td>
  </tr>`
}

function windowCell({ window_in_force: window, fields }: ModelCard): HtmlEscapedString | string {
  if (window === null) return 'not known before its next request'
  const taughtBy = fields.window?.from
  const isLoaded = fields.stated?.value.is_loaded
  return html`${plural(window.tokens, 'token')}
    <span class="under"><span>${windowWords({ ...window, taughtBy, isLoaded })}</span></span>`
}

function ratioCell(ratio: ModelCard['fields']['ratio']): HtmlEscapedString | string {
  if (ratio === undefined) return ''
  const { ratio: value, own_tokens: ownTokens } = ratio.value
  return html`${value.toFixed(2)} <span class="under">over ${plural(ownTokens, 'token')}</span>`
}

/** What requests to this model are kept from, since it was refused. */
function refusedWords({ refuses, placement, thoughts }: ModelCard['fields']): readonly string[] {
  const values = [refuses?.usage?.value, refuses?.recall?.value, placement?.value, thoughts?.value]
  const words = values.map((value) => (value === undefined ? undefined : refusals[value]))
  return words.filter((each) => each !== undefined)
}

/** By the values of `usage`, `recall`, `placement` and `thoughts`; usage that is `stated` unasked is refused by nobody. */
const refusals: Readonly<Record<string, string>> = {
  named: 'usage in streams',
  guessed: 'usage in streams, perhaps',
  plain: 'recall',
  'with-schema': 'recall beside a schema',
  any: 'recall',
  strict: 'user messages in a row',
  original: 'whatever is rewritten',
  kept: 'replies without their thoughts',
  'newest-kept': 'the newest reply without its thoughts',
  bound: 'thoughts behind another conversation',
}

/** Since when the window in force is believed; settings and tables have no time. */
function sinceCell({ window_in_force: window, fields }: ModelCard, now: Date): HtmlEscapedString | string {
  const belief =
    window?.source === 'learnt' ? fields.window : window?.source === 'server' ? fields.stated : undefined
  if (belief === undefined) return ''
  return html`<time datetime="${belief.since}" title="${moment(belief.since)}"
    >${ago(belief.since, now)}</time
  >`
}
