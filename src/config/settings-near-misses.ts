import type { NearMiss } from '../profiles/near-miss.ts'
import { profileKeys } from '../profiles/schema.ts'

const addressKeys = [
  'url',
  'base_url',
  'api_base',
  'base',
  'address',
  'endpoint',
  'upstream_url',
  'openai_base_url',
  'openai_api_base',
  'anthropic_base_url',
  'target',
  'backend',
  'server',
  'host',
  'uri',
]

const keyKeys = [
  'api_key',
  'key',
  'apikey',
  'token',
  'api_token',
  'auth_token',
  'bearer',
  'secret',
  'password',
  'openai_api_key',
  'anthropic_api_key',
  'authorization',
]

const upstreamKey =
  'api_key_env: NAME (an environment variable that holds the key) or api_key_file: FILE (a file that holds it)'
const clientKey =
  'key_env: NAME (an environment variable that holds the key) or key_file: FILE (a file that holds it)'

/** What people write in foldgate.yaml in place of a key. Of several that fit the first holds. */
export const settingsNearMisses: readonly NearMiss[] = [
  {
    group: '',
    keys: ['upstreams', 'upstream', ...addressKeys.filter((key) => key !== 'host')],
    value: 'address',
    advice: 'write upstreams: {default: {url: VALUE}}',
  },
  { group: '', keys: ['upstream', 'upstreams'], advice: 'write upstreams: {default: {url: URL}}' },
  { group: '', keys: ['host'], value: 'address', advice: 'write upstreams: {default: {url: VALUE}}' },
  {
    group: 'upstreams',
    keys: addressKeys,
    value: 'address',
    advice: 'write upstreams: {default: {url: VALUE}}',
  },
  {
    group: 'upstreams',
    keys: keyKeys,
    advice: `an upstream's name comes first: upstreams: {default: {…}} with ${upstreamKey}`,
  },
  { group: 'upstreams', keys: ['default'], value: 'address', advice: 'write default: {url: VALUE}' },
  { group: 'upstreams', keys: ['*'], value: 'address', advice: 'write {url: VALUE} in its place' },
  { group: 'upstreams.*', keys: ['url'], value: 'bare-address', advice: 'write http://VALUE' },
  { group: 'upstreams.*', keys: addressKeys.filter((key) => key !== 'url'), advice: 'write url: URL' },
  { group: 'upstreams.*', keys: keyKeys, advice: `write ${upstreamKey}` },
  {
    group: '',
    keys: keyKeys,
    advice: `write it into an upstream: upstreams: {default: {…}} with ${upstreamKey}`,
  },
  {
    group: '',
    keys: ['api_key_env', 'api_key_file'],
    advice: 'write it into an upstream: upstreams: {default: {api_key_env: NAME}}',
  },
  { group: 'client_keys.*', keys: keyKeys, advice: `write ${clientKey}` },
  { group: 'client_keys', keys: ['*'], advice: `write a group of keys: name: NAME, with ${clientKey}` },
  {
    group: '',
    keys: ['client_keys'],
    advice: `write a list of groups, each with name: NAME and ${clientKey}`,
  },
  {
    group: 'admin',
    keys: keyKeys,
    advice: 'write token_env: NAME, an environment variable that holds the token',
  },
  {
    group: 'store',
    keys: ['encrypt_key', 'encryption_key', ...keyKeys],
    advice: 'write encrypt_key_env: NAME, an environment variable that holds the key',
  },
  { group: '', keys: ['admin'], value: 'off', advice: 'write admin: {port: 0}' },
  { group: '', keys: ['admin', 'admin_port'], value: 'number', advice: 'write admin: {port: VALUE}' },
  { group: '', keys: ['store'], value: 'text', advice: 'write store: {url: …}' },
  { group: '', keys: ['scope'], value: 'text', advice: 'write scope: {header: VALUE}' },
  { group: '', keys: ['cors'], advice: 'write cors: {origins: [https://app.example.com]}' },
  { group: '', keys: ['archive'], value: 'text', advice: 'write archive: {dir: FOLDER}' },
  { group: '', keys: ['listen'], advice: 'write host: ADDRESS and port: NUMBER' },
  { group: '', keys: ['log'], advice: 'write log_level: info' },
  {
    group: '',
    keys: ['profile', 'profiles'],
    advice: 'it names a folder, and each profile is a file in there: profiles/NAME.yaml',
  },
  {
    group: '',
    keys: ['window'],
    value: 'number',
    advice: 'it belongs in a profile: write window: {tokens: VALUE} into profiles/default.yaml',
  },
  {
    group: '',
    keys: ['model', ...Object.keys(profileKeys.shape).filter((key) => key !== 'upstream')],
    advice: 'it belongs in a profile, such as profiles/default.yaml',
  },
]
