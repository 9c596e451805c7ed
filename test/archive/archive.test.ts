import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  archiveTrouble,
  type Compose,
  createOneAtATime,
  openArchive,
  purgeArchive,
  titleOf,
} from '../../src/archive/archive.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'

const id = 'abcdefgh-_012345'
const other = 'another-id-00000'

const entry =
  (...texts: readonly string[]): Compose =>
  async () =>
    texts.map((text) => Buffer.from(text))

/** An entry that takes the longer the earlier it is, and says what it found. */
const slowEntry =
  (count: number): Compose =>
  async ({ isEmpty, end }) => {
    await new Promise((resolve) => setTimeout(resolve, 10 - count))
    return [Buffer.from(`${isEmpty} ${end.slice(-2, -1)}\n<${count}\n`)]
  }

const failing: Compose = async () => {
  throw new Error('it failed')
}

async function freshArchive() {
  const folder = await temporaryFolder({})
  const dir = join(folder, 'kept', 'here')
  return { folder, dir, path: join(dir, `${id}.md`), archive: openArchive(dir) }
}

describe('a file of the archive', () => {
  test('is for its user alone, as is the folder, which is made when it is needed', async () => {
    const { folder, dir, path, archive } = await freshArchive()
    expect(await readdir(folder)).toEqual([])
    await archive.append(id, entry('one ', 'entry\n'))
    expect(await readFile(path, 'utf8')).toBe('one entry\n')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(dir)).mode & 0o777).toBe(0o700)
    expect(archive.fileOf(id)).toBe(path)
  })

  test('is appended to in the order in which that was asked for, each time knowing what stands there', async () => {
    const { path, archive } = await freshArchive()
    await Promise.all([1, 2, 3].map((count) => archive.append(id, slowEntry(count))))
    const lines = (await readFile(path, 'utf8')).split('\n').filter((text) => !text.startsWith('<'))
    expect(lines).toEqual(['true ', 'false 1', 'false 2', ''])
  })

  test('an entry that cannot be made keeps nothing from the next', async () => {
    const { path, archive } = await freshArchive()
    await expect(archive.append(id, failing)).rejects.toThrow('it failed')
    await archive.append(id, entry('next\n'))
    expect(await readFile(path, 'utf8')).toBe('next\n')
  })

  // The id stands in records, which on a shared server others may write.
  test('lies in the folder: an id that leads elsewhere has none', async () => {
    const { folder, archive } = await freshArchive()
    for (const wrong of ['../../../../etc/x', '..', '', `${id}x`, 'abcdefgh/_012345']) {
      expect(archive.fileOf(wrong)).toBeNull()
      await expect(archive.append(wrong, entry('x'))).rejects.toThrow('no id')
      expect(await archive.delete(wrong)).toBe(false)
    }
    expect(await readdir(folder)).toEqual([])
  })

  // Whoever may write in the folder could have had Foldgate write into any file of its user.
  test('is no link, nor a folder: what one leads to is neither written nor read nor deleted', async () => {
    const { folder, dir, path, archive } = await freshArchive()
    const outside = join(folder, 'outside.md')
    await writeFile(outside, 'mine\n')
    await mkdir(dir, { recursive: true })
    await symlink(outside, path)
    await mkdir(join(dir, `${other}.md`))
    for (const [name, code] of [
      [id, 'ELOOP'],
      [other, 'EISDIR'],
    ] as const) {
      await expect(archive.append(name, entry('x'))).rejects.toMatchObject({ code })
      expect(await archive.delete(name)).toBe(false)
    }
    expect(await readFile(outside, 'utf8')).toBe('mine\n')
  })
})

/** 'refused' where it is before anything can have been waited for, else 'waited for'. */
function atOnce(appended: Promise<unknown>): Promise<unknown> {
  const later = new Promise((resolve) => {
    setImmediate(resolve, 'waited for')
  })
  return Promise.race([appended.catch(() => 'refused'), later])
}

test('a folder that hangs is waited for so long, and not again while it hangs; what had not begun is not done later', async () => {
  const dir = join(await temporaryFolder({}), 'kept')
  const archive = openArchive(dir, { deadlineMs: 40 })
  const held = Promise.withResolvers<readonly Buffer[]>()
  const late = { code: 'no answer' }
  const first = archive.append(id, () => held.promise)
  const queued = archive.append(other, entry('queued\n'))
  await expect(first).rejects.toMatchObject(late)
  await expect(queued).rejects.toMatchObject(late)
  // That it hangs is known a moment after the first one was given up: looking only then, this failed now and then.
  await expect.poll(() => atOnce(archive.append(other, entry('refused\n')))).toBe('refused')
  await expect(archive.append(other, entry('refused\n'))).rejects.toMatchObject(late)

  held.resolve([Buffer.from('late\n')])
  await expect.poll(() => readFile(join(dir, `${id}.md`), 'utf8')).toBe('late\n')
  await expect.poll(() => archive.append(other, entry('there\n')).then(() => 'done')).toBe('done')
  expect(await readFile(join(dir, `${other}.md`), 'utf8')).toMatch(/^(?:there\n)+$/)
})

describe('deleting', () => {
  test('all of them leaves everything else that lies in the folder', async () => {
    const { dir, archive } = await freshArchive()
    await archive.append(id, entry(titleOf(id), 'x'))
    await archive.append(other, entry(titleOf(other), 'x'))
    const foreign = ['README.md', 'notes.txt', `${id}.txt`, `${id}.md.bak`, `x${id}.md`]
    for (const name of foreign) await writeFile(join(dir, name), 'mine')
    await mkdir(join(dir, 'a-folder-of-mine.md'))
    expect(await purgeArchive(dir, null)).toBe(`Deleted 2 files from the archive ${dir}.`)
    expect(await readdir(dir)).toEqual([...foreign, 'a-folder-of-mine.md'].sort())
    expect(await purgeArchive(dir, null)).toBe(
      `Nothing to delete: the archive ${dir} holds no file of a conversation.`,
    )
  })

  // A name of sixteen characters was enough: a folder of notes that was named as archive.dir lost them.
  test('all of them leaves notes whose names might be ids', async () => {
    const { dir, archive } = await freshArchive()
    await archive.append(id, entry(titleOf(id), 'x'))
    for (const [name, text] of [
      ['project-overview.md', '# Overview\n'],
      ['release-notes-24.md', ''],
      ['another-id-00000.md', `# Conversation ${id}\n`],
    ] as const)
      await writeFile(join(dir, name), text)
    await symlink(join(dir, `${id}.md`), join(dir, 'a-link-of-mine-0.md'))
    expect(await purgeArchive(dir, null)).toBe(`Deleted 1 file from the archive ${dir}.`)
    expect(await readdir(dir)).toEqual([
      'a-link-of-mine-0.md',
      'another-id-00000.md',
      'project-overview.md',
      'release-notes-24.md',
    ])
  })

  test('of one conversation takes its file, after what is being written to it, and says what that was', async () => {
    const { dir, archive } = await freshArchive()
    await archive.append(other, entry('x'))
    const appended = archive.append(id, entry('x'))
    expect(await archive.delete(id)).toBe(true)
    await appended
    expect(await archive.delete(id)).toBe(false)
    expect(await readdir(dir)).toEqual([`${other}.md`])
    await archive.append(id, entry('x'))
    expect(await purgeArchive(dir, id)).toBe(
      `Deleted 1 file of the conversation ${id} from the archive ${dir}.`,
    )
    expect(await purgeArchive(dir, id)).toBe(
      `Nothing to delete: the archive ${dir} holds no file of the conversation ${id}.`,
    )
  })
})

describe('whether a folder can be written', () => {
  test('nothing speaks against one that is there, or that can be made; and nothing is made', async () => {
    const folder = await temporaryFolder({})
    expect(await archiveTrouble(folder)).toBeNull()
    expect(await archiveTrouble(join(folder, 'a/b/c'))).toBeNull()
    expect(await readdir(folder)).toEqual([])
  })

  test('a file in its place, or above it, does', async () => {
    const folder = await temporaryFolder({ file: '' })
    for (const dir of [join(folder, 'file'), join(folder, 'file/kept')])
      expect(await archiveTrouble(dir)).toContain(`nothing can be written in ${dir} (ENOTDIR)`)
  })

  test.skipIf(process.getuid?.() === 0)('so does one that is read-only', async () => {
    const folder = await temporaryFolder({})
    await chmod(folder, 0o500)
    expect(await archiveTrouble(join(folder, 'kept'))).toContain('(EACCES)')
  })
})

const pause = (timeMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, timeMs))

// What had waited for others until shortly before its deadline was taken for something that hangs.
test('a folder that is only busy is not taken for one that hangs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const inTurn = createOneAtATime({ deadlineMs: 200 })
  const both = Promise.allSettled([inTurn(() => pause(150)), inTurn(() => pause(120))])
  await vi.advanceTimersByTimeAsync(200)
  const [first, second] = await both
  expect(first).toMatchObject({ status: 'fulfilled' })
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'no answer' } })
  const third = inTurn(async () => 'done')
  await vi.advanceTimersByTimeAsync(70)
  expect(await third).toBe('done')
})
