import type { Settings } from '../config/settings.ts'
import type { OpenStoreOptions } from '../stores/open-store.ts'
import type { CommandContext } from './command.ts'

/** How the store of these settings is opened. */
export function storeOptions(
  { store }: Settings,
  { env, platform }: Pick<CommandContext, 'env' | 'platform'>,
): OpenStoreOptions {
  return {
    url: store.url,
    lifetimeDays: store.ttl_days,
    megabytesMax: store.max_mb,
    required: store.required,
    encryptKey: store.encrypt_key?.reveal() ?? null,
    env,
    platform,
  }
}
