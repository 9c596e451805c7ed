// @ts-check
/**
 * Keeps a page as it would be after a reload: when the listener says that something changed, the page is fetched again
 * and the elements marked `data-live` are brought in line with it, in place. What the reader holds stays: focus, open
 * details, places scrolled to.
 */

/** Shortest time between two fetches, in milliseconds. */
const refreshEveryMs = 1_000

/** Longest time without one while the page is looked at, in milliseconds: "2 min ago" moves without a change. */
const refreshAtLatestMs = 30_000

/** How long to wait before another try where the browser gave up on the connection, in milliseconds. */
const reconnectAfterMs = 3_000

const ownConversation = document.body.dataset['conversation'] ?? ''

/** @type {EventSource | null} */
let changes = null
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
let lastBeganMs = -Infinity
let isFetching = false
let isStale = false
let isAnswered = true
let isGone = false

connect()
setInterval(refreshSoon, refreshAtLatestMs)
document.addEventListener('visibilitychange', connectWhenSeen)
document.addEventListener('click', actOnButton)

// --- connection ---

function connect() {
  if (isGone || document.hidden || changes?.readyState === EventSource.OPEN) return
  changes?.close()
  changes = new EventSource('/changes')
  changes.addEventListener('open', () => {
    // Whatever changed while nobody listened.
    refreshSoon()
    tellConnection()
  })
  changes.addEventListener('message', ({ data }) => {
    if (concernsThisPage(data)) refreshSoon()
  })
  changes.addEventListener('error', () => {
    tellConnection()
    // It tries again by itself unless it was refused.
    if (changes?.readyState === EventSource.CLOSED) setTimeout(connect, reconnectAfterMs)
  })
}

/** @param {string} data */
function concernsThisPage(data) {
  if (ownConversation === '') return true
  /** @type {{ conversation?: unknown }} */
  const { conversation = null } = JSON.parse(data)
  return conversation === null || conversation === ownConversation
}

function tellConnection() {
  const place = document.getElementById('connection')
  if (place === null) return
  const isLive = isAnswered && changes?.readyState === EventSource.OPEN
  const words = isGone
    ? 'This is no longer kept. What you see is as it was.'
    : isLive
      ? 'Live'
      : 'Connection lost. What you see is as it was; trying again.'
  place.className = isLive && !isGone ? 'connection live' : 'connection lost'
  // Said anew only when it is new.
  if (place.textContent !== words) place.textContent = words
}

// --- refreshing ---

function refreshSoon() {
  isStale = true
  if (document.hidden || isFetching || isGone || timer !== undefined) return
  timer = setTimeout(refresh, Math.max(0, lastBeganMs + refreshEveryMs - performance.now()))
}

/** A browser opens six connections to a host, over all its tabs: those that nobody looks at leave theirs to the others. */
function connectWhenSeen() {
  if (document.hidden) changes?.close()
  else connect()
}

async function refresh() {
  timer = undefined
  isFetching = true
  isStale = false
  lastBeganMs = performance.now()
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
    isAnswered = answer.ok
    if (answer.ok) renew(new DOMParser().parseFromString(await answer.text(), 'text/html'))
    if (answer.status === 404) leave()
  } catch {
    isAnswered = false
  }
  isFetching = false
  tellConnection()
  if (isStale) refreshSoon()
}

/** There is nothing to renew this page from any more. */
function leave() {
  isGone = true
  changes?.close()
}

// --- renewing ---

/** @param {Document} fresh */
function renew(fresh) {
  const focused = document.activeElement
  const place = focused?.closest('[data-live]')
  for (const wanted of fresh.querySelectorAll('[data-live]')) {
    const present = document.getElementById(wanted.id)
    if (present !== null && !present.isEqualNode(wanted)) bringInLine(present, wanted)
  }
  document.title = fresh.title
  // Moving an element takes its focus away in browsers that know no `moveBefore`.
  if (focused instanceof HTMLElement && focused.isConnected && focused !== document.activeElement) {
    focused.focus({ preventScroll: true })
  }
  // A button that is gone leaves its focus to what it stood in, where that takes it.
  if (focused?.isConnected === false && place instanceof HTMLElement) place.focus({ preventScroll: true })
}

/**
 * @param {Element} present
 * @param {Element} wanted
 */
function bringInLine(present, wanted) {
  for (const { name, value } of wanted.attributes) {
    if (present.getAttribute(name) !== value) present.setAttribute(name, value)
  }
  for (const name of present.getAttributeNames()) {
    // Which details are open is the reader's business.
    if (!wanted.hasAttribute(name) && name !== 'open') present.removeAttribute(name)
  }
  bringChildrenInLine(present, wanted)
}

/**
 * Children with an id are the same ones wherever they stand now; of the others, the next one is, if it is of its kind.
 *
 * @param {Element} parent
 * @param {Element} wantedParent
 */
function bringChildrenInLine(parent, wantedParent) {
  const named = new Map([...parent.children].filter(({ id }) => id !== '').map((child) => [child.id, child]))
  let next = parent.firstChild
  for (const wanted of wantedParent.childNodes) {
    const present = counterpart(wanted, next, named)
    if (present === null) {
      parent.insertBefore(document.importNode(wanted, true), next)
      continue
    }
    if (present === next) next = next.nextSibling
    else move(present, parent, next)
    if (present instanceof Element && wanted instanceof Element) bringInLine(present, wanted)
    else if (present.nodeValue !== wanted.nodeValue) present.nodeValue = wanted.nodeValue
  }
  while (next !== null) {
    const rest = next
    next = next.nextSibling
    rest.remove()
  }
}

/**
 * @param {Node} wanted
 * @param {ChildNode | null} next
 * @param {Map<string, Element>} named
 * @returns {ChildNode | null}
 */
function counterpart(wanted, next, named) {
  if (wanted instanceof Element && wanted.id !== '') {
    const present = named.get(wanted.id)
    return present?.nodeName === wanted.nodeName ? present : null
  }
  const isNamed = next instanceof Element && next.id !== ''
  return next !== null && !isNamed && next.nodeName === wanted.nodeName ? next : null
}

/**
 * @param {ChildNode} child
 * @param {Element} parent
 * @param {ChildNode | null} next
 */
function move(child, parent, next) {
  if ('moveBefore' in parent && typeof parent.moveBefore === 'function') parent.moveBefore(child, next)
  else parent.insertBefore(child, next)
}

// --- buttons ---

/** @param {Event} event */
async function actOnButton({ target }) {
  const button = target instanceof Element ? target.closest('button') : null
  const { method, path, confirm: question, done = '' } = button?.dataset ?? {}
  if (button === null || method === undefined || path === undefined) return
  if (button.getAttribute('aria-disabled') === 'true') return
  if (question !== undefined && !confirm(question)) return
  // Not `disabled`, which would take the focus away.
  button.setAttribute('aria-disabled', 'true')
  say('…', false)
  try {
    const answer = await fetch(path, { method })
    if (answer.ok) say(done, false)
    else say(`That failed: ${await reasonIn(answer)}`, true)
  } catch {
    say('That failed: Foldgate does not answer. Is it running?', true)
  }
  button.removeAttribute('aria-disabled')
}

/** @param {Response} answer */
async function reasonIn(answer) {
  try {
    const { error } = await answer.json()
    if (typeof error.message === 'string') return error.message
  } catch {
    // Not in the shape of our errors: something stands in between.
  }
  return `the answer was ${answer.status}.`
}

/**
 * @param {string} words
 * @param {boolean} isBad
 */
function say(words, isBad) {
  const place = document.getElementById('said')
  if (place === null) return
  place.classList.toggle('bad', isBad)
  place.textContent = words
}
