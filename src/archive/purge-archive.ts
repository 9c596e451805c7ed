import { StoreError, troubleOf } from '../stores/store-error.ts'
import { deleteArchived } from './delete-archived.ts'

/** Deletes what the archive in a folder holds, of one conversation or of all, and says what that was. Rejects with a `StoreError`. */
export async function purgeArchive(dir: string, conversation: string | null): Promise<string> {
  const name = `the archive ${dir}`
  let files: number
  try {
    files = await deleteArchived(dir, conversation)
  } catch (error) {
    const message = `${name} failed in the middle of it: see to it (${troubleOf(error)}), and run foldgate purge again`
    throw new StoreError(message, { cause: error })
  }
  const whose = conversation === null ? '' : ` of the conversation ${conversation}`
  if (files === 0)
    return `Nothing to delete: ${name} holds no file${whose === '' ? ' of a conversation' : whose}.`
  return `Deleted ${files === 1 ? '1 file' : `${files} files`}${whose} from ${name}.`
}
