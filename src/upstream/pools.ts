import { buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import type { UpstreamAddress } from './address.ts'

/** The environment's HTTP proxies. Empty strings where there are none. */
export type HttpProxies = Readonly<ReturnType<typeof proxiesFrom>>

/** The proxies that the environment names, in either spelling. */
export function proxiesFrom(environment: Environment) {
  const read = (name: string): string => environment[spelled(environment, name)] ?? ''
  return { httpProxy: read('HTTP_PROXY'), httpsProxy: read('HTTPS_PROXY'), noProxy: read('NO_PROXY') }
}

/** The variables that should name a proxy and hold no address of one. What they hold may be a password. */
export function wrongProxyVariables(environment: Environment): readonly string[] {
  return ['HTTP_PROXY', 'HTTPS_PROXY']
    .map((name) => spelled(environment, name))
    .filter((name) => {
      const text = environment[name] ?? ''
      return text !== '' && !proxySchemes.has(URL.parse(text)?.protocol ?? '')
    })
}

export type Pools = ReturnType<typeof createPools>

/** Answer headers up to this size are taken: some gateways send long policies. */
const answerHeaderBytesMax = 64 * 1024

/**
 * How long an idle connection is kept when the upstream does not say, in milliseconds. Shorter than the
 * five seconds after which common servers close theirs, so that a request does not meet a closing one.
 */
const idleConnectionMs = 4_000

/** Keep-alive pools, through the environment's proxies where these are set and the upstream is not this machine. */
export function createPools(options: { connectMs: number; proxies: HttpProxies }) {
  const { proxies } = options
  const pools = new Map<string, Pool>()
  const fresh = new Set<Client>()
  const connection = {
    // HTTP/1.1 keeps the spelling and order of headers and is what a client speaks to us.
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: idleConnectionMs,
    maxHeaderSize: answerHeaderBytesMax,
    connectTimeout: options.connectMs,
    connect: connectorFor(options),
  }
  const proxied = proxies.httpProxy !== '' || proxies.httpsProxy !== ''
  // Every option is given, or undici reads the process's environment itself.
  const proxyAgent = proxied ? new EnvHttpProxyAgent({ ...connection, ...proxies }) : null

  return {
    /** The pool for an address's origin: one for each, which is kept. */
    dispatcherFor: (address: UpstreamAddress): { dispatcher: Dispatcher; throughProxy: boolean } => {
      if (proxyAgent !== null && !address.loopback) return { dispatcher: proxyAgent, throughProxy: true }
      let pool = pools.get(address.origin)
      if (pool === undefined) {
        pool = new Pool(address.origin, connection)
        pools.set(address.origin, pool)
      }
      return { dispatcher: pool, throughProxy: false }
    },
    /** Sends over a connection that is made for this request alone. */
    overFresh: <Result>(
      address: UpstreamAddress,
      send: (dispatcher: Dispatcher) => Promise<Result>,
    ): Promise<Result> => {
      const client = new Client(address.origin, connection)
      fresh.add(client)
      const sending = send(client)
      // It takes no more, and ends with what it has taken.
      void client.close().finally(() => fresh.delete(client))
      return sending
    },
    /** Ends every connection, running ones too. */
    destroy: async (): Promise<void> => {
      const all: Dispatcher[] = [...pools.values(), ...fresh]
      if (proxyAgent !== null) all.push(proxyAgent)
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()))
    },
  }
}

// --- internal ---

type Environment = Readonly<Record<string, string | undefined>>

const spelled = (environment: Environment, name: string): string =>
  environment[name.toLowerCase()] === undefined ? name : name.toLowerCase()

const proxySchemes: ReadonlySet<string> = new Set(['http:', 'https:', 'socks:', 'socks5:'])

/**
 * Opens connections for a pool, so that an answer whose end is the end of its connection is not taken for whole where
 * that connection was reset: undici forgives a reset there, since macOS reports one behind whole bodies too. What it
 * forgives by is the code of the error.
 */
function connectorFor({ connectMs }: { readonly connectMs: number }): buildConnector.connector {
  const connect = buildConnector({ allowH2: false, timeout: connectMs })
  return function connectTo(options, callback) {
    connect(options, (...result) => {
      const [, socket] = result
      // Before undici's own listener, which is added by the callback.
      socket?.on('error', tellReset)
      callback(...result)
    })
  }
}

/** As undici calls a connection that the other side has closed. */
const CLOSED = 'UND_ERR_SOCKET'

function tellReset(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = CLOSED
}
