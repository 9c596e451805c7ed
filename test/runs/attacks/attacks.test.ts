import { afterAll, expect, test } from 'vitest'
import { attacks } from './all.ts'
import type { Attack } from './attack.ts'
import { manners, runAttack } from './run-attack.ts'
import { openAttackedProgram, type AttackedProgram } from './target.ts'

/**
 * Foldgate was once ended by 11,753 bytes: gzip of `{"x":[{},{},…]}`, of which a tree was built, twenty times as large.
 * 60 kB of `[[[[…` held it for half a minute. So each body here is one that somebody makes in order to hold the event
 * loop, or to take all memory. The program runs in the container of the sidecar example, or in a roomier one; the work
 * of each turn of its loop is measured in processor time, since a clock would count what else the machine does.
 *
 * At a tenth of their size: what is not done in steps, holds the loop all the same. `npm run attacks` has them whole, and
 * those that take long.
 */
const SHARE = 0.1

/**
 * Beside other tests the same work takes twice the processor time: they share its caches. What was not done in steps took
 * seconds. `npm run attacks` holds the promise itself, which is half of this.
 */
const GAP_MS_MAX = 100

/** A client of its own for each try: a machine whose caches others use takes longer, what is not in steps always does. */
let clients = 0

/** Rooms by what an attack needs; a program is started anew where an attack has ended it. */
const rooms = new Map<string, AttackedProgram>()

afterAll(async () => {
  for (const { close } of rooms.values()) await close()
})

test.each(attacks.filter(({ isQuick }) => isQuick === true))(
  'holds nobody up and ends nothing: $name',
  { retry: 2 },
  async (attack) => {
    const target = await roomFor(attack)
    const wrong: string[] = []
    clients += 1
    const client = `client ${clients}`
    for (const manner of manners.slice(0, 2)) {
      const blow = await runAttack(target, attack, { manner, share: SHARE, client, gapMsMax: GAP_MS_MAX })
      wrong.push(...blow.wrong.map((each) => `${manner.name}: ${each}`))
      if (target.program.ended() !== null) break
    }
    expect(wrong).toEqual([])
  },
)

async function roomFor(attack: Attack): Promise<AttackedProgram> {
  const name = `${attack.room} ${attack.profile ?? ''}`
  const found = rooms.get(name)
  if (found !== undefined && found.program.ended() === null) return found
  await found?.close()
  const opened = await openAttackedProgram(attack)
  rooms.set(name, opened)
  return opened
}
