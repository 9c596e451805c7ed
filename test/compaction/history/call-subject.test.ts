import { describe, expect, test } from 'vitest'
import { callSubjectOf } from '../../../src/compaction/history/calls/call-subject.ts'
import { digest } from '../../support/source.ts'

const of = (name: string, given: unknown) =>
  callSubjectOf(name, typeof given === 'string' ? given : JSON.stringify(given), digest)

describe('what a call deals with', () => {
  test.each([
    ['Read', { file_path: '/repo/a.py', limit: 20 }, ['/repo/a.py'], [], true],
    ['read_file', { path: './src/a.py' }, ['src/a.py'], [], true],
    [
      'Edit',
      { file_path: '/repo/a.py', old_string: 'x', new_string: 'y' },
      ['/repo/a.py'],
      ['/repo/a.py'],
      false,
    ],
    ['str_replace_editor', { command: 'view', path: '/repo/a.py' }, ['/repo/a.py'], [], true],
    [
      'str_replace_editor',
      { command: 'create', path: '/repo/a.py', file_text: 'x' },
      ['/repo/a.py'],
      ['/repo/a.py'],
      false,
    ],
    ['Grep', { pattern: 'x', path: 'src' }, ['src'], [], false],
    ['anything', { where: 'docs/a.md', text: 'one\ntwo' }, ['docs/a.md'], ['docs/a.md'], false],
    [
      'apply_patch',
      '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** Add File: b.ts\n+z\n*** End Patch',
      ['src/a.ts', 'b.ts'],
      ['src/a.ts', 'b.ts'],
      false,
    ],
    [
      'shell',
      { command: ['bash', '-lc', 'cat src/a.py && python run.py > out.txt'] },
      ['src/a.py', 'run.py', 'out.txt'],
      ['out.txt'],
      false,
    ],
    ['bash', { command: "sed -i 's/a.b/c.d/' src/a.py" }, ['src/a.py'], ['src/a.py'], false],
    [
      'bash',
      { command: 'cat > a.py <<EOF\nimport os.path\nopen("b.txt", "w")\nEOF\npython a.py' },
      ['a.py', 'b.txt'],
      ['b.txt', 'a.py'],
      false,
    ],
    [
      'bash',
      { command: 'cp a.py b.py; mv c.py d.py; git checkout e.py' },
      ['a.py', 'b.py', 'c.py', 'd.py', 'e.py'],
      ['b.py', 'c.py', 'd.py', 'e.py'],
      false,
    ],
    ['bash', { command: 'ls 2>/dev/null' }, [], [], false],
    ['search_flights', { origin: 'EWR', date: '2024-05-21' }, [], [], false],
  ])('%s %j', (name, given, paths, changed, isLook) => {
    const { asked: _asked, ...history } = of(name, given)
    expect(history).toEqual({
      paths: expect.arrayContaining(paths),
      changed: expect.arrayContaining(changed),
      isLook,
      work: null,
    })
    expect([history.paths.length, history.changed.length]).toEqual([paths.length, changed.length])
  })

  // A way to read by shell was taken for a change, since a name in it has a hyphen and an i.
  test.each([
    ["sed -n '1,200p' src/user-profile.tsx", []],
    ["sed 's/multi-line/x/g' notes.md", []],
    ["perl -ne 'print' my-file.py", []],
    ['grep -n patch src/api.ts', []],
    ['rg touch src/api.ts', []],
    ['echo rm old.py', []],
    ['patch --dry-run a.py < a.diff', []],
    ['grep -w word a.py', []],
    ['cd src && sed -i.bak s/a/b/ api.py', ['api.py']],
    ['prettier --write src/a.ts', ['src/a.ts']],
    ['eslint --fix src/a.ts', ['src/a.ts']],
    ['gofmt -w main.go', ['main.go']],
    ['black app.py', ['app.py']],
    ['curl -s https://h/x -o out.json', ['out.json']],
    ['FOO=1 sudo rm old.py', ['old.py']],
    ['cat a.txt | tee b.txt', ['b.txt']],
    ['node -e "fs.writeFileSync(\'x.json\', y)"', ['x.json']],
  ])('of `%s` what is changed is %j', (command, changed) => {
    expect(of('bash', { command }).changed).toEqual(changed)
  })

  // One string argument of 512 characters held the process for a minute and a half.
  test('is told of hostile arguments in no time that anybody notices', () => {
    const hostile = [
      '/a'.repeat(250),
      '/'.repeat(500),
      '+++ a'.padEnd(60_000),
      `cat <<E\n${'\n'.repeat(30_000)}`,
      `'${'a b '.repeat(15_000)}`,
      'sed '.repeat(15_000),
      '<<a '.repeat(15_000),
    ]
    for (const text of hostile)
      for (const end of ['*.ts', ' x', '?'])
        for (const given of [
          { path: `${text}${end}` },
          { command: `${text}${end}` },
          { pattern: `${text}${end}` },
        ])
          expect(of('any', given).paths.length).toBeLessThanOrEqual(32)
  })

  // A file with boxes to tick in it was taken for the list of work, and that it was written for nothing.
  test.each([
    ['Write', { file_path: 'TODO.md', content: '- [ ] one\n- [x] two' }],
    ['write_file', { path: 'data.json', content: '[{"name":"a","status":"pending"}]' }],
  ])('a list that %s puts into a file is that file’s', (name, given) => {
    expect(of(name, given)).toMatchObject({ work: null, changed: [Object.values(given)[0]] })
  })

  test('calls ask for the same whose arguments are the same, however they are ordered', () => {
    expect(of('Read', { a: 1, b: 2 }).asked).toBe(of('Read', { b: 2, a: 1 }).asked)
    expect(of('Read', { a: 1, b: 2 }).asked).not.toBe(of('Read', { a: 1, b: 3 }).asked)
    expect(of('Read', { a: 1 }).asked).not.toBe(of('View', { a: 1 }).asked)
  })

  test('is told of any arguments', () => {
    for (const given of [
      '',
      '{',
      'null',
      '[]',
      '"x"',
      '{"a":{"b":[1]}}',
      '{"path":null}',
      `{"path":"${'x'.repeat(9_000)}"}`,
    ])
      expect(of('Read', given).paths).toEqual([])
  })
})
