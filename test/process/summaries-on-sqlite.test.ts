import { join } from 'node:path'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { summariesOnOneStore } from './summaries-on-one-store.ts'

summariesOnOneStore(
  'one SQLite file',
  true,
  async () => `sqlite:${join(await temporaryFolder({}), 'shared.sqlite')}`,
)
