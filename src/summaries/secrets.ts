import { runAtOnce, type Pausable } from '../json/source.ts'

/**
 * @internal exported for tests. Shapes of secrets, most specific first. A summary is stored and is sent to a model that the
 * conversation was perhaps not meant for; a password in it helps nobody. Every pattern is linear in the text: repeats are
 * bounded or begin where nothing of their own class stands before, and none looks ahead without a bound.
 */
export const secretShapes = [
  shape(
    'private key',
    new RegExp(
      [
        '-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----',
        // Of an encrypted key the headers, then lines of base64, which in JSON are joined by `\n`.
        String.raw`(?:(?:\\[rn]|\s){0,4}[A-Z][A-Za-z-]{2,20}: [^\n\\]{0,120}){0,4}`,
        String.raw`(?:(?:\\[rn]|[\s"',|>]){0,40}[A-Za-z0-9+/=]{20,}){1,2000}`,
        String.raw`(?:(?:\\[rn]|[\s"',|>]){0,40}[A-Za-z0-9+/=]{1,19}(?=\\|\s|-))?`,
        String.raw`(?:(?:\\[rn]|\s){0,4}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?`,
      ].join(''),
      'g',
    ),
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx1x2x3x4x5x6x7x8x9x0\nYWJjZA==\n-----END RSA PRIVATE KEY-----',
  ),
  shape(
    'API key',
    /\bsk-(?:[a-z0-9]{1,12}-){0,3}(?=[A-Za-z_]{0,60}\d)\w{16,200}[\w-]{0,200}/g,
    'sk-proj-4f9Kd82LmQ0xZt7VbN3sYw1R',
  ),
  shape('API key', /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,200}/g, 'sk_live_51H8xYz2eZvKYlo2C'),
  shape('GitHub token', /\bgh[pousr]_[A-Za-z0-9]{20,255}/g, 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'),
  shape(
    'GitHub token',
    /\bgithub_pat_\w{20,255}/g,
    'github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789',
  ),
  shape('GitLab token', /\bglpat-[\w-]{20,255}/g, 'glpat-x9Kd82LmQ0xZt7VbN3sY'),
  shape('AWS key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, 'AKIAIOSFODNN7EXAMPLE'),
  shape(
    'Slack token',
    /\bx(?:ox[abceoprs]|app)-[A-Za-z0-9-]{10,250}/g,
    'xoxb-263594206564-FGqddMF8t08v8N7Oq4i57vs1',
  ),
  shape('Google key', /\bAIza[\w-]{35}/g, 'AIzaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe'),
  shape('Google token', /\bya29\.[\w-]{20,500}/g, 'ya29.a0AfH6SMBx3k2LmQ0xZt7VbN3sYw1R'),
  shape('npm token', /\bnpm_[A-Za-z0-9]{30,60}\b/g, 'npm_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'),
  shape('API key', /\b(?:hf|gsk|r8)_[A-Za-z0-9]{30,100}\b/g, 'hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567'),
  shape(
    'JWT',
    /(?<![\w-])eyJ[\w-]{8,4000}\.eyJ[\w-]{8,4000}\.[\w-]{8,4000}/g,
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  ),
  shape(
    'credential',
    /(?<before>\b(?:Bearer|Basic)[ \t]{1,4})(?=[A-Za-z._~+/-]{0,200}\d)[\w.~+/-]{12,4000}={0,2}/gi,
    'Authorization: Bearer 9f8e7d6c5b4a39281706',
  ),
  // Not the user's name: which account is used is often what matters.
  shape(
    'password',
    /(?<before>\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'<>]{0,100}:)(?![${<[*])[^\s@/"'<>]{1,200}(?<after>@)/gi,
    'postgres://app:s3cr3t-Pass@db.internal:5432/orders',
  ),
  shape(
    'secret',
    assignment(
      String.raw`\s{0,3}(?:=>|[=:])\s{0,3}(?<quote>\\?["'])`,
      // A text in quotes; not a number, a placeholder, or what was redacted already.
      String.raw`(?!\d{1,12}\\?["']|[$<{%*[(])[^\s"'\\][^"'\\\n]{2,300}(?<after>\k<quote>)`,
    ),
    '"client_secret": "correct horse battery"',
  ),
  shape(
    'secret',
    assignment(
      String.raw`\s{0,3}(?:=>|[=:])\s{0,3}`,
      // Without quotes it may be a variable or a type: those have no digits mostly, or are called or looked into.
      String.raw`(?=[A-Za-z_~+/=!@#^*-]{0,60}\d)(?=[\d._,]{0,60}[A-Za-z])[\w~+/=!@#$%^*-]{8,300}(?<after>(?![\w.(\[]))`,
    ),
    'db_password: hunter2hunter2',
  ),
  shape(
    'secret',
    /(?<before>\b[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|SECRET|TOKEN|API_KEY|ACCESS_KEY|PRIVATE_KEY)=)(?![$<{%*[("'])[^\s"'`;&|]{4,300}/g,
    'MYSQL_ROOT_PASSWORD=swordfish',
  ),
]

/** A text in which everything that looks like a secret is replaced by its kind: `[redacted API key]`. */
export function redacted(text: string): string {
  return runAtOnce(redactedSteps(text))
}

/** The same, pausing between the shapes. */
export function* redactedSteps(text: string): Pausable<string> {
  let left = text
  for (const { name, pattern } of secretShapes) {
    left = left.replace(pattern, (...found: unknown[]) => {
      const groups = found.at(-1)
      const { before = '', after = '' } = isGroups(groups) ? groups : {}
      return `${before}[redacted ${name}]${after}`
    })
    if (text.length >= PAUSED_CHARS_MIN) yield
  }
  return left
}

// --- internal ---

/** A shorter text is looked through in well under a millisecond. */
const PAUSED_CHARS_MIN = 8_192

/** A shape that secrets have. The groups `before` and `after` of its pattern match text that stays. */
function shape(name: string, pattern: RegExp, sample: string) {
  return { name, pattern, sample }
}

/** A value behind a key that names a secret. */
function assignment(sign: string, value: string): RegExp {
  const key = String.raw`(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)\\?["']?`
  return new RegExp(`(?<before>${key}${sign})${value}`, 'gi')
}

function isGroups(value: unknown): value is { readonly before?: string; readonly after?: string } {
  return typeof value === 'object' && value !== null
}
