import { isJsonObject, type JsonObject } from '../json/json-value.ts'
import type { AnswerJoin, CallRules, Replies, Reply, Seam, StreamEvent } from './answer-contract.ts'
import { createPartGate, type PartGate } from './part-gate.ts'
import type { AnswerReader, SeenPart, Ending, Move, Part, AnswerWire } from './reply-wire.ts'
import { addUsage } from './usage-sum.ts'

/** Reading and joining the answers of a dialect. */
export function joiningOf(wire: AnswerWire): Pick<Replies, 'read' | 'join'> {
  return {
    read: (body) => createJoin(wire, { toolName: null, continues: false }).takePlain(body),
    join: (rules) => createJoin(wire, rules),
  }
}

// --- internal ---

/**
 * Events go on as they come, but for those of parts that the client does not get to see, and what would tell it that the reply
 * took several answers. They wait, in their order, while nobody knows whether they are of such a part, of a part that was cut,
 * or of an end that is not the reply's. An answer in which nothing has to change passes byte for byte. A plain answer is the same
 * parts at once.
 */
function createJoin<Event extends StreamEvent>(wire: AnswerWire, rules: CallRules): AnswerJoin<Event> {
  let client = wire.openWriter()
  /** What the client has got. */
  const seenParts: SeenPart[] = []
  let nextPlace = 0
  /** A text that was cut: the next one goes on in it. */
  let open: SeenPart | null = null
  /** What comes is not what the client gets, from here on. */
  let isChanged = false
  let isBeyondUs = false
  let [hasBegun, hasEnded, isOver] = [false, false, false]
  let usageBefore: JsonObject | null = null
  let answer = openAnswer<Event>(wire, rules, null)

  function take(event: Event): readonly (Event | string)[] {
    if (isBeyondUs) return [event]
    const read = wire.readEvent(event.text)
    if (read.kind === 'other') return [event]
    if (read.kind === 'error') {
      isBeyondUs = true
      return [...finish(), event]
    }
    const said = read.kind === 'event' ? read : LAST_WORD
    client.note(said)
    const moves = read.kind === 'event' ? answer.reader.take(read) : lastWord
    if (moves.length === 0) {
      // A sign of life does not wait: later it is worth nothing.
      if (wire.isNumbered === true && answer.queue.length > 0) isChanged = true
      if (isChanged) return client.aside?.(said) ?? [event]
      client.passed?.(said.json, null)
      return [event]
    }
    if (moves.length > MOVES_MAX) {
      isBeyondUs = true
      return [...finish(), event]
    }
    const shown = takeMoves(event, moves)
    if (!areTooMany(moves)) return shown
    isBeyondUs = true
    return [...shown, ...finish()]
  }

  function areTooMany(moves: readonly Move[]): boolean {
    return (
      answer.parts.length > PARTS_MAX ||
      answer.queue.length > WAITING_MAX ||
      moves.some(({ part }) => (part?.texts.length ?? 0) > PARTS_MAX)
    )
  }

  function takeMoves(event: Event | null, moves: readonly Move[]): readonly (Event | string)[] {
    hasBegun = true
    let isEnd = false
    for (const move of moves) {
      if (move.kind === 'text') textOf(move.part, move.at).came += move.text
      if (move.kind === 'end') isEnd = answer.reader.finish() !== null || move.says === 'last'
      else if (move.kind !== 'once') answer.isClosing = move.kind === 'close'
    }
    if (isEnd && !mayGoOn()) settle()
    const { seam } = answer
    return queued(event, seam === null ? moves : moves.flatMap((move) => joinedMoves(move, seam)))
  }

  /** What the client gets next; it may have to wait. */
  function queued(event: Event | null, moves: readonly Move[]): readonly (Event | string)[] {
    for (const move of moves) if (move.kind === 'text') textOf(move.part, move.at).shown += move.text
    answer.queue.push({ event, moves })
    return drained()
  }

  /** A move with its text as the seam joins it. What the seam still held goes before the end of a text. */
  function joinedMoves(move: Move, seam: Seam): readonly Move[] {
    if (move.kind === 'close') return [...lateText(move.part), move]
    if (move.kind === 'end') return [...lateText(lastText()), move]
    return move.kind === 'text' && move.text !== '' ? [{ ...move, text: seam.feed(move.text) }] : [move]
  }

  function lastText(): Part | undefined {
    return answer.parts.findLast(({ kind }) => kind === 'text')
  }

  /** What the seam still held of a text that is over. */
  function lateText(part: Part | undefined): readonly Move[] {
    const at = part?.texts.findLastIndex(({ came }) => came !== '') ?? -1
    const text = part === undefined || at === -1 ? '' : (answer.seam?.end() ?? '')
    return part === undefined || text === '' ? [] : [{ kind: 'text', part, at, text, json: {} }]
  }

  /** Whether what has ended may turn out not to be the end of the reply. */
  function mayGoOn(): boolean {
    const reason = answer.reader.finish()
    return reason !== 'error' && (answer.gate.hasOurs() || (rules.continues && reason === 'length'))
  }

  /** The reply ends with this answer: nothing waits any more. */
  function settle(): void {
    answer.isSettled = true
    answer.gate.end()
    for (const part of answer.parts) if (part.fate === 'waiting') answer.gate.take(part, false)
  }

  function isHeld(move: Move): boolean {
    const { part } = move
    if (answer.isSettled) return false
    if (move.kind === 'end') return mayGoOn()
    if (part === undefined || part === null) return false
    if (part.fate !== 'shown') return part.fate === 'waiting'
    const reason = answer.reader.finish()
    if (!rules.continues || part !== answer.parts.at(-1) || (reason !== null && reason !== 'length'))
      return false
    // A call that was cut is not shown; a text goes on in the next answer. What was followed by another was not cut.
    return part.kind === 'call'
      ? !part.isWhole
      : part.kind === 'text' && move.kind === 'close' && answer.isClosing
  }

  function drained(): readonly (Event | string)[] {
    const { queue } = answer
    const held = queue.findIndex(({ moves }) => moves.some(isHeld))
    // Mostly one that came is all there is, and goes on.
    const only = held === -1 && queue.length === 1 ? queue.pop() : undefined
    if (only !== undefined) return revealed(only)
    return held === 0 ? [] : queue.splice(0, held === -1 ? queue.length : held).flatMap(revealed)
  }

  function revealed({ event, moves }: Entry<Event>): readonly (Event | string)[] {
    if (moves.some(({ part }) => part?.fate === 'hidden')) isChanged = true
    if (isChanged) return moves.flatMap((move) => written(move, event))
    for (const move of moves) pass(move)
    return event === null ? [] : [event]
  }

  function pass(move: Move): void {
    if (move.kind === 'begin') place(move.part)
    else noteEnd(move)
    client.passed?.(move.json, move.part?.seenPart ?? null)
  }

  function noteEnd(move: Move): void {
    if (move.kind === 'close' && move.isAll && move.part.seenPart !== null) move.part.seenPart.isClosed = true
    if (move.kind !== 'end') return
    hasEnded ||= move.says === 'reason'
    isOver ||= move.says === 'last'
  }

  function written(move: Move, event: Event | null): readonly (Event | string)[] {
    const asItCame = event === null ? [] : [event]
    if (move.kind === 'once') return answer.seam === null ? asItCame : []
    if (move.kind === 'end') {
      const closed =
        move.says === 'reason'
          ? closedParts(() => true, answer.reader.finish() === 'length' && !answer.drops)
          : []
      noteEnd(move)
      return [...closed, ...(event === null ? [] : (client.end(move, ending()) ?? asItCame))]
    }
    const { part } = move
    if (part.fate === 'hidden') return []
    const waitsForText = part.kind === 'text' && answer.seam !== null && wire.refusesEmptyTexts === true
    if (move.kind === 'begin') return waitsForText ? [] : begun(part, move)
    const isSilent = move.kind === 'close' || (move.kind === 'text' && move.text === '')
    if (part.seenPart === null && isSilent) return []
    const before = part.seenPart === null ? begun(part, move) : []
    const one = part.seenPart
    if (one === null) return before
    noteEnd(move)
    switch (move.kind) {
      case 'text':
        return [...before, ...client.text(one, move)]
      case 'more':
        return [...before, ...client.more(one, { ...move, kind: 'more' })]
      case 'close':
        return client.close(one, seen(one), move)
    }
  }

  /** The client sees the beginning of a part, unless it goes on in one that it knows. */
  function begun(part: Part, move: Move): readonly string[] {
    const goesOn = part.kind === 'text' ? open : null
    open = null
    const closed = closedParts((one) => one.part === null && one !== goesOn, false)
    if (goesOn === null) return [...closed, ...client.begin(place(part), move)]
    goesOn.part = part
    part.seenPart = goesOn
    return closed
  }

  function place(part: Part): SeenPart {
    const index = !isChanged && typeof part.index === 'number' ? part.index : nextPlace
    nextPlace = index + 1
    const one: SeenPart = {
      place: index,
      id: client.idOf?.(part),
      before: null,
      part,
      isClosed: false,
      stated: {},
    }
    seenParts.push(one)
    part.seenPart = one
    return one
  }

  /** The ends of parts whose own end the client did not get. */
  function closedParts(isMeant: (one: SeenPart) => boolean, isCut: boolean): readonly string[] {
    return seenParts
      .filter((one) => !one.isClosed && isMeant(one))
      .flatMap((one) => {
        one.isClosed = true
        one.stated = wire.statedAtEnd?.(isCut) ?? {}
        return client.close(one, seen(one), null)
      })
  }

  /** A part as the client sees it. */
  function seen({ id, before, part, stated }: SeenPart): JsonObject {
    const said = part === null ? {} : shownJson(part)
    const json = before === null ? said : part === null ? before : wire.joined(before, said)
    return { ...json, ...(id === undefined ? {} : { id }), ...stated }
  }

  /** A part of the answer, with its texts as the client gets them. */
  function shownJson({ kind, json, texts }: Part): JsonObject {
    if (answer.seam === null || kind !== 'text') return json
    return wire.withTexts(
      json,
      texts.map(({ shown }) => shown),
    )
  }

  function ending(): Ending {
    const calls = answer.parts.filter(({ kind }) => kind === 'call')
    const areHidden = answer.gate.hasOurs() && calls.every(({ fate }) => fate === 'hidden')
    return {
      reason: answer.drops
        ? wire.reasons.calls
        : areHidden && answer.reader.finish() === 'calls'
          ? wire.reasons.end
          : null,
      usage: total(),
      parts: () => seenParts.map(seen),
      about: answer.reader.about(),
    }
  }

  function total(): JsonObject | null {
    const usage = answer.reader.usage()
    return usage === null ? usageBefore : addUsage(usageBefore, usage)
  }

  /** The call in whose middle an answer was cut: the last part, for what was followed by another was not cut. */
  function cutCall(): Part | null {
    const last = answer.parts.at(-1)
    const isCut = last?.kind === 'call' && answer.reader.finish() === 'length' && wire.isCutCall(last.json)
    return isCut ? last : null
  }

  /**
   * Whether a call that was cut is left out: if others are there, which a client can only make beside none that is not whole.
   * Not so if the reply would end in the thoughts that led to the call: no server takes such a reply back.
   */
  function dropsCall(cut: Part): boolean {
    const others = answer.parts.filter((part) => part !== cut && part.fate === 'shown')
    const isBesideCalls = others.some(({ kind }) => kind === 'call')
    return rules.continues && cut.fate === 'shown' && isBesideCalls && others.at(-1)?.kind !== 'thought'
  }

  function finish(): readonly (Event | string)[] {
    settle()
    const cut = cutCall()
    if (cut !== null && dropsCall(cut)) {
      cut.fate = 'hidden'
      answer.drops = true
    }
    return drained()
  }

  /** What waits of texts and thoughts that the client gets. */
  function flushed(): readonly (Event | string)[] {
    isChanged = true
    for (const part of answer.parts) if (part.fate === 'waiting') part.fate = 'hidden'
    const moves = answer.queue.splice(0).flatMap((entry) => entry.moves)
    return moves
      .filter(({ kind, part }) => part?.fate === 'shown' && part.kind !== 'call' && kind !== 'close')
      .flatMap((move) => written(move, null))
  }

  function ended(): ReturnType<AnswerJoin<Event>['ended']> {
    if (isBeyondUs || answer.reader.finish() === 'error') return { reply: null, shown: [] }
    const late = lateText(lastText())
    const shown = late.length === 0 ? drained() : queued(null, late)
    return { reply: reply(), shown }
  }

  function reply(): Reply {
    const { parts, reader } = answer
    const [cut, finishedAs] = [cutCall(), reader.finish()]
    const jsons = parts.map(({ json }) => json)
    return {
      text: wire.textOf(parts.map(shownJson)),
      kept: wire.kept(jsons, reader.about()),
      calls: parts
        .filter(({ kind }) => kind === 'call')
        .map((part) => ({ ...wire.call(part), isIncomplete: part === cut, json: part.json })),
      finish: finishedAs,
      hasRefusal: wire.hasRefusal(jsons, finishedAs),
      usage: reader.usage(),
    }
  }

  return {
    take,
    ended,
    finish,
    cut: () => {
      if (!hasBegun) return null
      if (isOver) return []
      const late = flushed()
      const closed = hasEnded ? [] : closedParts(() => true, true)
      return [...late, ...closed, ...client.cut(ending(), hasEnded)]
    },
    goOn: (seam) => {
      const shown = flushed()
      const last = answer.parts.at(-1)
      const isCut = rules.continues && last?.kind === 'text' && answer.reader.finish() === 'length'
      const goesOn =
        wire.isOneText === true
          ? seenParts.find(({ part }) => part?.kind === 'text')
          : isCut && last.seenPart?.isClosed === false
            ? last.seenPart
            : null
      open = goesOn ?? open
      for (const one of seenParts) {
        one.before = seen(one)
        one.part = null
      }
      usageBefore = total()
      client.goOn?.(usageBefore)
      answer = openAnswer<Event>(wire, rules, seam)
      return shown
    },
    usage: () => wire.usageOf(total()),
    takePlain: (body) => {
      // Nobody gets it as events: none is written.
      client = { ...client, begin: nothing, text: nothing, more: nothing, close: nothing, end: nothing }
      answer.isRead = isJsonObject(body) && answer.reader.takePlain(body)
      if (!answer.isRead || !isJsonObject(body)) return null
      client.note({ kind: 'event', name: '', type: '', json: body })
      for (const part of answer.parts) {
        const texts = part.kind === 'text' ? wire.textsOf(part.json) : []
        const moves: readonly Move[] = [
          { kind: 'begin', part, json: body },
          ...texts.map((text, at): Move => ({ kind: 'text', part, at, text, json: {} })),
          { kind: 'close', part, isAll: true, json: {} },
        ]
        for (const move of moves) takeMoves(null, [move])
      }
      takeMoves(null, [{ kind: 'end', says: 'reason', json: body }])
      return ended().reply
    },
    finishPlain: () => {
      if (!answer.isRead) return null
      finish()
      return isChanged ? client.body(ending()) : null
    },
  }
}

const nothing = (): readonly string[] => []

const LAST_WORD = { kind: 'event', name: '', type: '[DONE]', json: {} } as const
const lastWord: readonly Move[] = [{ kind: 'end', says: 'last', json: {} }]

/** What waits is given at once when that is over, which must not take long. Hardly a call comes in more pieces. */
const WAITING_MAX = 6_144

/** No model says more in one event. Each part of it is looked for among all of the answer's, and nothing pauses meanwhile. */
const MOVES_MAX = 128

/** No model makes more parts in one answer, or texts in a part; an event is looked for in all of them. */
const PARTS_MAX = 1_024

type Entry<Event> = {
  /** As it came; null if it is made here. */
  readonly event: Event | null
  readonly moves: readonly Move[]
}

/** The text at this place among those of a part. */
function textOf({ texts }: Part, at: number): Part['texts'][number] {
  while (texts.length < at) texts.push({ came: '', shown: '' })
  return (texts[at] ??= { came: '', shown: '' })
}

/** The answer that flows. */
type Answer<Event> = {
  /** Null in the first one. */
  readonly seam: Seam | null
  readonly parts: readonly Part[]
  readonly gate: PartGate
  readonly reader: AnswerReader
  /** What waits, in its order. */
  readonly queue: Entry<Event>[]
  /** The latest that was said of a part is that it ends. */
  isClosing: boolean
  isSettled: boolean
  /** The call that was cut is left out. */
  drops: boolean
  /** It is plain, and was understood. */
  isRead: boolean
}

function openAnswer<Event>(wire: AnswerWire, rules: CallRules, seam: Seam | null): Answer<Event> {
  const parts: Part[] = []
  const hidesThoughts = seam !== null
  const gate = createPartGate({
    hidesThoughts,
    thoughtsWait: wire.thoughtsWait === true && rules.toolName !== null,
  })
  const reader = wire.openReader(
    {
      all: parts,
      add: (kind, json, { index, isOurs = false }) => {
        const part: Part = {
          kind,
          begun: json,
          json,
          index,
          argumentsText: '',
          isWhole: false,
          texts: [],
          fate: 'waiting',
          isForeign: false,
          seenPart: null,
        }
        parts.push(part)
        if (isOurs !== null) gate.take(part, isOurs)
        return part
      },
      decide: gate.take,
    },
    rules.toolName,
  )
  return {
    seam,
    parts,
    gate,
    reader,
    queue: [],
    isClosing: false,
    isSettled: false,
    drops: false,
    isRead: false,
  }
}
