import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDice } from '../../src/commands/demo/dice.ts'
import { assistant, prose, round, system, user } from '../compaction/sending.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { fakeUpstream, json, type ReceivedRequest, type Script } from '../support/fake-upstream.ts'
import { output, runProgram } from './program.ts'

const ROUNDS = 16
const RESULT_TOKENS = 250

type Message = { readonly role: string; readonly content: string }

/** An agent that reads file after file, and says so in the end. */
const conversation = (name: string): object[] => [
  system('You mend programs.'),
  user(`The task of ${name}: PLANTED.`),
  ...Array.from({ length: ROUNDS }, (_, at) =>
    round(`${name}-${at}`, prose(`what ${name} read at ${at}`, RESULT_TOKENS), 'read_file', {
      path: `planted/${at}.ts`,
    }),
  ).flat(),
  assistant('Done.'),
]

const tools = [{ type: 'function', function: { name: 'read_file', parameters: { type: 'object' } } }]

/** Whether a result is missing or shorter than it was. */
const isCompacted = ({ body }: ReceivedRequest): boolean => {
  const { messages } = JSON.parse(body.toString())
  const last = Number(/ at (\d+)/.exec(messages.at(-1).content)?.[1])
  const whole = messages.filter(
    ({ role, content }: Message) => role === 'tool' && content.length === RESULT_TOKENS * 3,
  )
  return whole.length <= last
}

const calling = (name: string, given: object) =>
  json({
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: JSON.stringify(given) } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 },
  })

async function open(script: Script) {
  const upstream = await fakeUpstream(script)
  onTestFinished(() => upstream.close())
  return upstream
}

/** A model that reads another file ten times in a hundred, and calls another tool in `harm` of a hundred compacted prompts. */
function forgetful(harm: number) {
  const dice = openDice(5)
  return open((request) => {
    const isHarmed = isCompacted(request) && dice.below(100) < harm
    const path = dice.below(100) < 10 ? 'other.ts' : 'usual.ts'
    return calling(isHarmed ? 'list_files' : 'read_file', { path })
  })
}

async function talks(count = 12): Promise<string> {
  const rows = Array.from({ length: count }, (_, at) => ({
    messages: conversation(`agent${at}`),
    tools,
    cost: 7,
  }))
  return temporaryFolder({
    'talks.jsonl': rows.map((row) => JSON.stringify(row)).join('\n'),
    'profiles/default.yaml': 'window: {tokens: 60000}\n',
  })
}

const argsFor = (url: string, ...more: string[]) => [
  ...'compare talks.jsonl --model m --window 2000 --store memory: --upstream'.split(' '),
  url,
  ...more,
]

const stateIn = (cwd: string): string => join(cwd, 'foldgate-compare.jsonl')

describe('foldgate compare', () => {
  test('sends nothing without --yes, and says what it would send, where, and for how many tokens', async () => {
    const upstream = await forgetful(0)
    const cwd = await talks()
    const { code, stdout, stderr } = await output(argsFor(upstream.url), { cwd })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`180 requests to ${upstream.url}, model m`)
    expect(stdout).toMatch(/about [\d,]{7,} tokens/)
    expect(stdout).toMatch(/^Nothing was sent/m)
    const told = await output(argsFor(upstream.url, '--json', '--pairs', '10'), { cwd })
    expect(JSON.parse(told.stdout)).toMatchObject({
      pairs: 10,
      requests: 30,
      window: 2_000,
      profiles: ['default'],
      is_full_window_guessed: false,
    })
    expect([upstream.requests, upstream.questions, upstream.connections()]).toEqual([[], [], 0])
    expect(await readdir(cwd)).not.toContain('foldgate-compare.jsonl')
  })

  test('finds the harm that is there, with an interval that holds it, and none where there is none', async () => {
    for (const harm of [40, 0]) {
      const upstream = await forgetful(harm)
      const cwd = await talks()
      const { code, stdout } = await output(argsFor(upstream.url, '--yes', '--json'), { cwd })
      expect(code).toBe(0)
      const result = JSON.parse(stdout)
      // Where the tool differs the paths differ by chance alone: two of ten times in a hundred.
      const trueHarm = (harm / 100) * (1 - 0.18)
      const { low, high } = result.harm.any.harm
      expect([low <= trueHarm, trueHarm <= high, low > 0]).toEqual([true, true, harm > 0])
      expect(result.harm.tools).toMatchObject({ again: 0 })
      expect(result.answers.compacted).toEqual({
        calling: 60,
        tokens: { prompt: 6_000, cached: null, reply: 300 },
      })
    }
  })

  test('asks with the same bytes twice, and once with what explain says would be sent', async () => {
    const upstream = await forgetful(0)
    const cwd = await talks(3)
    await output(argsFor(upstream.url, '--yes', '--pairs', '5'), {
      cwd,
      env: { OPENAI_API_KEY: 'KEY-PLANTED' },
    })
    const bodies = upstream.requests.map(({ body }) => JSON.parse(body.toString()))
    expect(upstream.requests.map(isCompacted)).toEqual(Array.from({ length: 15 }, (_, at) => at % 3 === 2))
    expect(
      upstream.requests.every(
        ({ url, headers }) =>
          url === '/v1/chat/completions' && headers['authorization'] === 'Bearer KEY-PLANTED',
      ),
    ).toBe(true)
    const [full, again, compacted] = bodies
    expect(again).toEqual(full)
    const { messages, ...around } = full
    expect(around).toEqual({ model: 'm', max_tokens: 512, tools })
    await writeFile(join(cwd, 'full.json'), JSON.stringify({ model: 'm', messages, tools }))
    await writeFile(join(cwd, 'profiles/small.yaml'), 'window: {tokens: 2000}\n')
    const explained = await output(
      ['explain', 'full.json', '--profile', 'small', '--json', '--upstream', upstream.url],
      { cwd },
    )
    expect(compacted.messages).toEqual(JSON.parse(explained.stdout).body.messages)
    const kept = await readFile(stateIn(cwd), 'utf8')
    expect(kept.split('\n')).toHaveLength(5 * 3 + 2)
    expect(kept).not.toMatch(/PLANTED|planted|agent\d|read_file|usual/)
    expect((await stat(stateIn(cwd))).mode & 0o777).toBe(0o600)
  })

  test('below 50 pairs, or of few conversations, only counts are told', async () => {
    const upstream = await forgetful(100)
    const cwd = await talks(3)
    const few = await output(argsFor(upstream.url, '--yes', '--pairs', '5'), { cwd })
    expect(few.stdout).toMatch(/^the tools +0 of 5 +5 of 5$/m)
    expect(few.stdout).toContain('Below 50 pairs')
    expect(few.stdout).not.toMatch(/[+−]\d/)
  })

  test('interrupted, it goes on where it stopped: no request is sent twice', async () => {
    const upstream = await forgetful(30)
    const cwd = await talks()
    const run = runProgram(argsFor(upstream.url, '--yes', '--pairs', '50'), { cwd })
    await run.said(/^7 of 50 moments/m)
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(1)
    expect(run.stderr()).toMatch(
      /stopped with \d+ of 50 pairs: it was interrupted\. The same command goes on/,
    )
    expect(upstream.requests.length).toBeLessThan(150)
    // As if it had ended in the middle of a line.
    await writeFile(stateIn(cwd), '{"request":"half', { flag: 'a' })
    const rest = await output(argsFor(upstream.url, '--yes', '--pairs', '50', '--json'), { cwd })
    expect(JSON.parse(rest.stdout)).toMatchObject({ pairs: 50 })
    const times = Map.groupBy(upstream.requests, ({ body }) => body.toString()).values()
    expect([...times].map((same) => same.length).toSorted((one, other) => one - other)).toEqual([
      ...Array(50).fill(1),
      ...Array(50).fill(2),
    ])
    await output(argsFor(upstream.url, '--yes', '--pairs', '50'), { cwd })
    expect(upstream.requests).toHaveLength(150)
  })

  test('a busy upstream is asked again, a refused output limit goes by its other name, and what refuses all ends it', async () => {
    let asked = 0
    const moody = await open((request) => {
      asked += 1
      if (asked === 1) return json({}, 429, { 'retry-after': '0' })
      const isOld = 'max_tokens' in JSON.parse(request.body.toString())
      const said = "Unsupported parameter: 'max_tokens' is not supported with this model."
      return isOld ? json({ error: { message: said } }, 400) : calling('x', {})
    })
    const cwd = await talks(2)
    expect((await output(argsFor(moody.url, '--yes', '--pairs', '2'), { cwd })).code).toBe(0)
    expect(moody.requests).toHaveLength(2 + 2 * 3)

    for (const [status, requests] of [
      [401, 1],
      [400, 5],
    ] as const) {
      const refusing = await open(json({ error: { message: 'not\nyou' } }, status))
      const { code, stdout, stderr } = await output(argsFor(refusing.url, '--yes', '--pairs', '9'), { cwd })
      expect([code, stdout, refusing.requests.length]).toEqual([1, '', requests])
      expect(stderr).toMatch(new RegExp(`stopped with 0 of 9 pairs: .*${status} \\(not you\\)`))
    }
  })

  test('requests of the other two APIs go to their own paths, for a plain answer', async () => {
    const items = Array.from({ length: 12 }, (_, at) => [
      { type: 'function_call', call_id: `c${at}`, name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: `c${at}`, output: prose(`word ${at}`, 400) },
    ]).flat()
    const blocks = Array.from({ length: 12 }, (_, at) => [
      { role: 'assistant', content: [{ type: 'tool_use', id: `t${at}`, name: 'look', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: prose(`word ${at}`, 400) }],
      },
    ]).flat()
    const rows = [
      { model: 'm', stream: true, input: [{ role: 'user', content: 'Go.' }, ...items] },
      {
        model: 'm',
        stream: true,
        max_tokens: 9_000,
        messages: [{ role: 'user', content: 'Go.' }, ...blocks],
      },
    ]
    const cwd = await temporaryFolder({
      'recorded/r.json': JSON.stringify(rows),
      'recorded/notes.txt': 'nothing',
      'profiles/default.yaml': 'window: {tokens: 60000}\n',
    })
    const upstream = await open((request) =>
      json(
        request.url.endsWith('/responses')
          ? {
              object: 'response',
              status: 'completed',
              output: [{ type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }],
            }
          : {
              type: 'message',
              role: 'assistant',
              content: [{ type: 'text', text: 'So.' }],
              stop_reason: 'end_turn',
            },
      ),
    )
    const args = [
      'compare',
      'recorded',
      '--upstream',
      upstream.url,
      '--window',
      '2500',
      '--pairs',
      '2',
      '--yes',
    ]
    const { code, stdout } = await output(args, { cwd, env: { ANTHROPIC_API_KEY: 'k' } })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^anything +0 of 2 +0 of 2/m)])
    const seen = upstream.requests.map(({ url, headers, body }) => {
      const { stream, max_tokens: chat, max_output_tokens: response } = JSON.parse(body.toString())
      return [
        url,
        headers['x-api-key'] ?? null,
        headers['anthropic-version'] ?? null,
        stream ?? false,
        chat ?? response,
      ].join()
    })
    expect(new Set(seen)).toEqual(
      new Set(['/v1/responses,,,false,512', '/v1/messages,k,2023-06-01,false,512']),
    )
  })

  test.each([
    ['compare nowhere.jsonl', 'nowhere.jsonl: there is no such file or folder'],
    ['compare talks.jsonl', 'talks.jsonl: it names no model: say which by --model NAME'],
    ['compare --yes', 'foldgate compare needs recorded conversations'],
    ['compare talks.jsonl --pairs few', '--pairs: has to be a whole number above 0'],
    [
      'compare talks.jsonl --model m --profile defualt',
      '--profile: there is no profile "defualt"; did you mean "default"',
    ],
    ['compare talks.jsonl --model m', 'with --window N it compacts for a window of N tokens'],
    ['compare taken.md --model m', 'Foldgate’s archive holds what compactions took away'],
    [
      'compare talks.jsonl --model m --window 3000 --yes --state other',
      'other is no state of foldgate compare: name another file',
    ],
  ])('%s is told what to do', async (line, problem) => {
    const cwd = await talks(1)
    await writeFile(join(cwd, 'other'), 'a diary')
    await writeFile(join(cwd, 'taken.md'), '# Conversation')
    const { code, stdout, stderr } = await output(
      [...line.split(' '), '--upstream', 'http://127.0.0.1:9/v1'],
      { cwd },
    )
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(problem)
    expect(await readFile(join(cwd, 'other'), 'utf8')).toBe('a diary')
  })
})
