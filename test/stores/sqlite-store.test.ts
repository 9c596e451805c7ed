import { join } from 'node:path'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { openSqliteStore } from '../../src/stores/sqlite-store.ts'
import { storeContract } from '../contracts/store-contract.ts'

storeContract('the SQLite store', async (limits) =>
  openSqliteStore({ path: join(await temporaryFolder(), 'store.sqlite'), ...limits }),
)
