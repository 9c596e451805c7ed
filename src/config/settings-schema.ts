import { z } from 'zod'
import {
  count,
  glob,
  group,
  headerName,
  onOff,
  oneOf,
  orNull,
  section,
  shortText,
} from '../profiles/values.ts'
import { isOrigin, upstreamUrlFault } from './web-address.ts'

/**
 * foldgate.yaml: the one source of the type, of the editor's schema and of the tables in
 * docs/configuration.md. Any key may be left out, no other key is accepted.
 */

/** Where Foldgate listens when nothing else is set. */
export const defaultPort = 3653

/** Where requests go when nothing else is set. */
export const defaultUpstreamUrl = 'https://api.openai.com/v1'

const upstreamUrl = z
  .string({ error: 'an address that begins with http:// or https://' })
  .superRefine((text, context) => {
    const fault = upstreamUrlFault(text)
    if (fault !== null) context.addIssue({ code: 'custom', message: fault, input: text })
  })

// A key pasted here by mistake mostly has other characters; the value is never shown either way.
const variableName = z
  .string({ error: 'the name of an environment variable' })
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
    error: 'the name of an environment variable, not the key itself: letters, digits and _',
  })

const filePath = shortText("a file's path")

const keySources = (what: string, more = '') => ({
  fromVariable: orNull(
    variableName,
    `Environment variable that holds ${what}. It takes a restart to change it.`,
  ),
  fromFile: orNull(
    filePath,
    `File that holds ${what}, relative to foldgate.yaml; read again when it changes and on SIGHUP.${more} One of the two, not both.`,
  ),
})

/** `drain.delay_s` off loopback, where it is not set. */
export const drainDelaySeconds = 5

/** A day at most. */
const seconds = count('seconds', 0, 86_400)

const portPhrase = 'a port from 0 to 65535'
const port = z.int({ error: portPhrase }).min(0, { error: portPhrase }).max(65_535, { error: portPhrase })

const host = shortText('a host name or an address').regex(/^(?:[\w.-]+|\[?[\w.-]*(?::[\w.-]*){2,}\]?)$/, {
  error: 'a host name or an address, without scheme, port or path',
})

/** Stands in a path (`/u/NAME/…`) and in messages. */
const upstreamName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, {
  error: 'an upstream name of 1 to 64 letters, digits, ".", "_" or "-"',
})

const upstreamKey = keySources('the key that Foldgate sends to this upstream')

export const upstreamKeys = group({
  url: orNull(
    upstreamUrl,
    `Address that stands for the client's \`/v1\`, with its path. Required; only \`default\` has one, ${defaultUpstreamUrl}.`,
  ),
  api_key_env: upstreamKey.fromVariable,
  api_key_file: upstreamKey.fromFile,
  headers: z
    .record(
      headerName,
      z.string({ error: 'text' }).regex(/^[\t\x20-\x7e\x80-\xff]*$/, { error: 'text in one line' }),
      { error: 'a map from header name to text' },
    )
    .default({})
    .describe('Headers that are set on every request to this upstream.'),
  concurrency: orNull(
    count('requests', 1),
    'Requests at a time to this upstream; null: no limit of its own.',
  ),
  forward_client_key: orNull(
    onOff,
    "Send the client's credential to this upstream; null: only to `default`, and only where Foldgate has no key of its own for it.",
  ),
})

const clientKey = keySources(
  'the key, which clients send as their API key',
  ' Each line is a key: with the old one and the new one in it, clients can be changed over one by one.',
)

export const clientOverrides = ['bypass', 'profile', 'compact', 'conversation'] as const

export const settingsSchema = group({
  host: host.default('127.0.0.1').describe('Address that Foldgate listens on; the container sets 0.0.0.0.'),
  port: port.default(defaultPort).describe('Port that Foldgate listens on; 0: any free one.'),
  profiles: orNull(
    filePath,
    'Folder of profiles, relative to foldgate.yaml; null: `profiles/` beside foldgate.yaml. Watched for changes. The built-in profiles come after these.',
  ),
  log_level: oneOf(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least important lines that are logged; JSON lines, pretty on a terminal.'),
  upstreams: z
    .record(upstreamName, upstreamKeys, {
      error: 'a map from name to upstream, such as default: {url: https://host/v1}',
    })
    .default({})
    .describe(
      'Upstreams by name; `default` is always there. A request chooses another by the path `/u/NAME/v1/…`, or its profile does.',
    ),
  client_keys: z
    .array(
      group({
        name: shortText('a name').describe('Names the client in logs, metrics and stores. Required.'),
        key_env: clientKey.fromVariable,
        key_file: clientKey.fromFile,
        profiles: z
          .array(glob, { error: 'a list of profile names or patterns' })
          .default(['*'])
          .describe(
            'Profiles that it may use; names or patterns. Anything but all (`*`) confines it: see [what confines a client key](#what-confines-a-client-key).',
          ),
        upstreams: z
          .array(glob, { error: 'a list of upstream names or patterns' })
          .default(['*'])
          .describe(
            'Upstreams that it may choose by the path `/u/NAME/…`; names or patterns. Without that path requests go where the settings send them.',
          ),
        overrides: z
          .union([onOff, z.array(oneOf(clientOverrides))], {
            error: `true, false or a list of ${clientOverrides.join(', ')}`,
          })
          .default(true)
          .describe(
            'Which `x-foldgate-…` request headers it may send; true: all, false: none. Without `bypass` its conversations are read, or refused.',
          ),
      }),
      { error: 'a list of client keys, such as [{name: NAME, key_env: VARIABLE}]' },
    )
    .default([])
    .describe(
      "Keys of Foldgate's own that clients must send; empty: any client. Needed off loopback when Foldgate holds an upstream's key.",
    ),
  scope: section('Whose state is whose.', {
    header: orNull(
      headerName,
      "Request header that tells whose state it is, for credentials that rotate; trust it only where clients cannot set it. null: the credential or the client key's name.",
    ),
  }),
  cors: section('Calls from web pages.', {
    origins: z
      .array(
        z.string({ error: 'an origin' }).refine((text) => text === '*' || isOrigin(text), {
          error: 'an origin such as https://app.example.com, without path, or *',
        }),
        { error: 'a list of origins' },
      )
      .default([])
      .describe(
        'Origins of web pages that may call Foldgate, of extensions and desktop programs too (`chrome-extension://ID`); preflights are answered for them. On loopback no other page is served. `*`: all, which is refused while Foldgate holds a key and has no client keys.',
      ),
  }),
  hosts: z
    .array(host, { error: 'a list of host names' })
    .default([])
    .describe(
      'Further names under which clients reach a Foldgate that listens on loopback, accepted in `Host`: those that a container engine or a proxy on this machine sends, such as `host.docker.internal`. Off loopback any name is.',
    ),
  limits: section('What bounds the load; each has its own error.', {
    body_mb: count('megabytes', 1, 4096).default(64).describe('Largest request body that is read, in MB.'),
    bytes_in_flight_mb: count('megabytes', 1, 1_048_576)
      .default(512)
      .describe(
        'Request bodies held at a time, all together, in MB. One client has more than half of it only as long as nobody else wants it.',
      ),
    elements: count('elements', 100)
      .default(1_000_000)
      .describe(
        'Elements of lists and members of objects in a body that is read. A body with more is relayed unread, or refused where the client key is confined; so for the next four.',
      ),
    depth: count('levels', 8, 10_000)
      .default(512)
      .describe('How deep lists and objects may stand in each other.'),
    keys: count('keys', 10).default(10_000).describe('Members of the body itself.'),
    messages: count('messages', 10)
      .default(50_000)
      .describe('Messages of a conversation; items, in the Responses API.'),
    parts: count('elements', 10)
      .default(50_000)
      .describe('Elements and members within one message, its parts and calls among them.'),
    last_bodies_mb: count('megabytes', 0, 1_048_576)
      .default(64)
      .describe(
        'Memory for the latest bodies, in MB, so that of a conversation that goes on only the end is read; dropped after 10 minutes without a request. 0: none are held.',
      ),
    remembered_mb: count('megabytes', 1, 1_048_576)
      .default(64)
      .describe(
        'Memory for what is known of messages that were seen of late, and for what was made of them, in MB; those unused for longest go first.',
      ),
    concurrent: count('requests', 1)
      .default(1024)
      .describe(
        'Requests at a time. One client has more than half of them only as long as nobody else wants a place.',
      ),
    body_kb_per_s: count('kilobytes', 0, 1_048_576)
      .default(8)
      .describe(
        'Least rate at which a body has to arrive, in kB a second, which slow mobile connections keep; a client may be 20 seconds behind it. 0: no least rate.',
      ),
    headers_s: seconds.default(60).describe("Longest wait for a client's headers, in seconds; 0: no limit."),
    connect_s: seconds
      .default(10)
      .describe('Longest wait for a connection to an upstream, in seconds; 0: no limit.'),
    first_byte_s: seconds
      .default(600)
      .describe("Longest wait for the first byte of an upstream's answer, in seconds; 0: no limit."),
    idle_s: seconds.default(300).describe('Longest silence within a body, in seconds; 0: no limit.'),
  }),
  drain: section('Shutting down.', {
    delay_s: orNull(
      seconds,
      `How long new connections are still served after SIGTERM, in seconds; not after Ctrl-C. null: ${drainDelaySeconds}, so that whoever balances the load notices; 0 on loopback, where nobody does.`,
    ),
    timeout_s: seconds
      .default(25)
      .describe('How long running requests may take to finish after SIGTERM or Ctrl-C, in seconds.'),
  }),
  store: section('What is remembered, and where.', {
    url: z
      .string({ error: 'text' })
      .regex(/^(?:memory:$|sqlite:|rediss?:\/\/.)/, {
        error: 'memory:, sqlite:, sqlite:PATH or an address that begins with redis:// or rediss://',
      })
      .default('sqlite:')
      .describe(
        "Where decisions and summaries are kept: `sqlite:` (a file in the user's state directory), `sqlite:PATH`, `memory:`, `redis://…` or `rediss://…` (any Redis-compatible server, which replicas may share).",
      ),
    ttl_days: z
      .number({ error: 'a number of days above 0' })
      .positive({ error: 'a number of days above 0' })
      .max(3650, { error: 'at most 3650 days' })
      .default(7)
      .describe('How long they are kept after they were last written, in days.'),
    max_mb: count('megabytes', 1, 1_048_576)
      .default(512)
      .describe('Largest size of the store, in MB; beyond it the oldest go.'),
    required: onOff
      .default(false)
      .describe(
        'Whether a store that cannot be opened stops the start; else it becomes `memory:` with a warning.',
      ),
    encrypt_key_env: orNull(
      variableName,
      'Environment variable that holds the key with which everything in the store is encrypted (AES-256-GCM): a long random text, such as `openssl rand -base64 32` makes. null: it is not encrypted.',
    ),
  }),
  admin: section(
    'The admin listener: a page that shows what was done to conversations, metrics, the journal, and what can be done to one.',
    {
      host: host.default('127.0.0.1').describe('Address of the admin listener.'),
      port: port
        .default(3654)
        .describe(
          'Port of the admin listener; 0: no admin listener. Where it is taken, Foldgate goes on without.',
        ),
      token_env: orNull(
        variableName,
        'Environment variable that holds its bearer token, wanted of every request. Required off loopback.',
      ),
      show_content: onOff
        .default(false)
        .describe(
          "Whether the page shows what messages say: those of each conversation's latest request, held in memory for it, 64 MB of them at most.",
        ),
      metrics: oneOf(['protected', 'open'])
        .default('protected')
        .describe('Whether `/metrics` needs the token as the rest does; open: it does not.'),
      metrics_models: z
        .array(glob, { error: 'a list of model patterns' })
        .default([])
        .describe(
          'Models of which `/metrics` has figures of their own, by names or patterns; a figure goes by the pattern, since clients may ask for any name.',
        ),
    },
  ),
  archive: section('Keeping what is taken out of conversations.', {
    dir: orNull(
      shortText("a folder's path"),
      'Folder where what a compaction previews, clears, folds or clips is kept word for word, one Markdown file per conversation, relative to foldgate.yaml; null: none. Experimental.',
    ),
    mention: onOff.default(false).describe('Whether summaries name the file, for models that can read it.'),
  }),
  usage: section("The provider's own token counts.", {
    in_streams: oneOf(['rewritten', 'never', 'always'])
      .default('rewritten')
      .describe(
        'In which streamed requests Foldgate asks for usage when the client did not; the extra chunk is hidden from the client. rewritten: those that it rewrites anyway.',
      ),
  }),
  ollama: section("Ollama's own API.", {
    ask_for_errors: onOff
      .default(true)
      .describe(
        'Whether requests that were rewritten, or may not fit, ask the server to refuse what it would cut without a word (truncate: false, shift: false), unless the client says what it wants. A server that does not know these fields ignores them.',
      ),
  }),
  prices: z
    .record(
      glob,
      group({
        input: price().describe('Per million prompt tokens.'),
        cached_input: price().describe('Per million prompt tokens read from the cache.'),
        cache_written_input: price().describe(
          'Per million prompt tokens written to the cache, where the provider counts them by themselves.',
        ),
        output: price().describe('Per million tokens of the reply.'),
      }),
      { error: 'a map from model pattern to prices' },
    )
    .default({})
    .describe(
      'Prices by pattern on the model, in any one currency per million tokens; the most specific pattern holds. By them the page says what compaction saved. Without any it goes by what OpenAI and Anthropic list for theirs (10 November 2026, in US dollars); of what has no price it says nothing in money.',
    ),
})

/** foldgate.yaml with everything filled in. */
export type SettingsFile = z.output<typeof settingsSchema>

// --- internal ---

function price() {
  const phrase = 'a price of 0 or more'
  return z.number({ error: phrase }).min(0, { error: phrase }).nullable().default(null)
}
