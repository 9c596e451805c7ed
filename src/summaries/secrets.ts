import { finish, type Steps } from '../conversation/source.ts'

/** A shape that secrets have. The groups `before` and `after` match text that stays. */
export type SecretShape = { readonly name: string; readonly pattern: RegExp; readonly sample: string }

/**
 * @internal exported for tests. Shapes of secrets, most specific first. A summary is stored and is sent to a model that the
 * conversation was perhaps not meant for; a password in it helps nobody. Every pattern is linear in the text: repeats are
 * bounded or begin where nothing of their own class stands before, and none looks ahead without a bound.
 */
export const secretShapes: readonly SecretShape[] = [
  {
    name: 'private key',
    pattern: new RegExp(
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
    sample:
      '-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx1x2x3x4x5x6x7x8x9x0\nYWJjZA==\n-----END RSA PRIVATE KEY-----',
  },
  {
    name: 'API key',
    pattern: /\bsk-(?:[a-z0-9]{1,12}-){0,3}(?=[A-Za-z_]{0,60}\d)\w{16,200}[\w-]{0,200}/g,
    sample: 'sk-proj-4f9Kd82LmQ0xZt7VbN3sYw1R',
  },
  {
    name: 'API key',
    pattern: /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,200}/g,
    sample: 'sk_live_51H8xYz2eZvKYlo2C',
  },
  {
    name: 'GitHub token',
    pattern: /\bgh[pousr]_[A-Za-z0-9]{20,255}/g,
    sample: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  },
  {
    name: 'GitHub token',
    pattern: /\bgithub_pat_\w{20,255}/g,
    sample: 'github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789',
  },
  { name: 'GitLab token', pattern: /\bglpat-[\w-]{20,255}/g, sample: 'glpat-x9Kd82LmQ0xZt7VbN3sY' },
  { name: 'AWS key', pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, sample: 'AKIAIOSFODNN7EXAMPLE' },
  {
    name: 'Slack token',
    pattern: /\bx(?:ox[abceoprs]|app)-[A-Za-z0-9-]{10,250}/g,
    sample: 'xoxb-263594206564-FGqddMF8t08v8N7Oq4i57vs1',
  },
  {
    name: 'Google key',
    pattern: /\bAIza[\w-]{35}/g,
    sample: 'AIzaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe',
  },
  { name: 'Google token', pattern: /\bya29\.[\w-]{20,500}/g, sample: 'ya29.a0AfH6SMBx3k2LmQ0xZt7VbN3sYw1R' },
  {
    name: 'npm token',
    pattern: /\bnpm_[A-Za-z0-9]{30,60}\b/g,
    sample: 'npm_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8',
  },
  {
    name: 'API key',
    pattern: /\b(?:hf|gsk|r8)_[A-Za-z0-9]{30,100}\b/g,
    sample: 'hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567',
  },
  {
    name: 'JWT',
    pattern: /(?<![\w-])eyJ[\w-]{8,4000}\.eyJ[\w-]{8,4000}\.[\w-]{8,4000}/g,
    sample: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  },
  {
    name: 'credential',
    pattern: /(?<before>\b(?:Bearer|Basic)[ \t]{1,4})(?=[A-Za-z._~+/-]{0,200}\d)[\w.~+/-]{12,4000}={0,2}/gi,
    sample: 'Authorization: Bearer 9f8e7d6c5b4a39281706',
  },
  {
    // Not the user's name: which account is used is often what matters.
    name: 'password',
    pattern:
      /(?<before>\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'<>]{0,100}:)(?![${<[*])[^\s@/"'<>]{1,200}(?<after>@)/gi,
    sample: 'postgres://app:s3cr3t-Pass@db.internal:5432/orders',
  },
  {
    name: 'secret',
    pattern: assignment(
      String.raw`\s{0,3}(?:=>|[=:])\s{0,3}(?<quote>\\?["'])`,
      // A text in quotes; not a number, a placeholder, or what was redacted already.
      String.raw`(?!\d{1,12}\\?["']|[$<{%*[(])[^\s"'\\][^"'\\\n]{2,300}(?<after>\k<quote>)`,
    ),
    sample: '"client_secret": "correct horse battery"',
  },
  {
    name: 'secret',
    pattern: assignment(
      String.raw`\s{0,3}(?:=>|[=:])\s{0,3}`,
      // Without quotes it may be a variable or a type: those have no digits mostly, or are called or looked into.
      String.raw`(?=[A-Za-z_~+/=!@#^*-]{0,60}\d)(?=[\d._,]{0,60}[A-Za-z])[\w~+/=!@#$%^*-]{8,300}(?<after>(?![\w.(\[]))`,
    ),
    sample: 'db_password: hunter2hunter2',
  },
  {
    name: 'secret',
    pattern:
      /(?<before>\b[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|SECRET|TOKEN|API_KEY|ACCESS_KEY|PRIVATE_KEY)=)(?![$<{%*[("'])[^\s"'`;&|]{4,300}/g,
    sample: 'MYSQL_ROOT_PASSWORD=swordfish',
  },
]

/** A text in which everything that looks like a secret is replaced by its kind: `[redacted API key]`. */
export function redacted(text: string): string {
  return finish(redactedSteps(text))
}

/** The same, pausing between the shapes. */
export function* redactedSteps(text: string): Steps<string> {
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

/** A value behind a key that names a secret. */
function assignment(sign: string, value: string): RegExp {
  const key = String.raw`(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)\\?["']?`
  return new RegExp(`(?<before>${key}${sign})${value}`, 'gi')
}

function isGroups(value: unknown): value is { readonly before?: string; readonly after?: string } {
  return typeof value === 'object' && value !== null
}
