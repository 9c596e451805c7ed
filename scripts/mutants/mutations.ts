import { parseAst } from 'vitest/node'

/** One small fault that could stand in a source file. */
export type Mutation = {
  readonly kind: string
  /** Where in the text it stands, and what stands there instead. */
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** What is looked at to know whether a test reaches it: an expression, a statement, the body of a function. */
  readonly place: 'expression' | 'statement' | 'body'
}

export type Mutations = {
  readonly mutations: readonly Mutation[]
  /** Bodies of functions: of what runs when a file is loaded, a test is found by what else it runs of that file. */
  readonly bodies: readonly Span[]
  /** Where statements of a block begin that are expressions: nothing that opens a bracket may come there unparted. */
  readonly expressionStarts: ReadonlySet<number>
}

export type Span = { readonly start: number; readonly end: number; readonly isBlock: boolean }

/** Every mutation of a file of TypeScript. */
export function mutationsIn(source: string): Mutations {
  const found: Mutation[] = []
  const bodies: Span[] = []
  const expressionStarts = new Set<number>()
  const text = (node: Node): string => source.slice(node.start, node.end)
  const add = (
    kind: string,
    node: Node,
    replacement: string,
    place: Mutation['place'] = 'expression',
  ): void => void found.push({ kind, start: node.start, end: node.end, replacement, place })

  const visit = (node: Node): void => {
    if (node.type.startsWith('TS')) {
      // Of types nothing is left when the program runs.
      const inner = node['expression']
      if (TYPED_EXPRESSIONS.has(node.type) && isNode(inner)) visit(inner)
      return
    }
    if (IGNORED.has(node.type) || isNode(node['source'])) return
    for (const statement of nodesIn(BLOCKS.has(node.type) ? (node['body'] ?? node['consequent']) : []))
      if (statement.type === 'ExpressionStatement') expressionStarts.add(statement.start)
    for (const mutation of ofNode(node, text)) add(...mutation)
    if (node.type === 'TaggedTemplateExpression' && isNode(node['quasi'])) {
      // A text that has a tag before it stands for nothing alone.
      nodesIn(node['quasi']['expressions']).forEach(visit)
      return
    }
    const body = node['body']
    if (FUNCTIONS.has(node.type) && isNode(body)) {
      const isBlock = body.type === 'BlockStatement'
      bodies.push({ start: body.start, end: body.end, isBlock })
      const statements = nodesIn(isBlock ? body['body'] : [])
      const isOneReturn = statements.length === 1 && statements[0]?.type === 'ReturnStatement'
      if (statements.length > 0 && !isOneReturn && !text(body).includes('super('))
        add('body emptied', body, '{}', 'body')
    }
    for (const [key, value] of Object.entries(node)) {
      if (TYPE_MEMBERS.has(key)) continue
      // The name of a member is no value.
      if (key === 'key' && node['computed'] !== true) continue
      nodesIn(value).forEach(visit)
    }
  }
  nodesIn(parseAst(source, { lang: 'ts' })).forEach(visit)
  return { mutations: found, bodies, expressionStarts }
}

// --- internal ---

type Node = {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

type Found = [kind: string, node: Node, replacement: string, place?: Mutation['place']]

const TYPED_EXPRESSIONS = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'])
const IGNORED = new Set(['ImportDeclaration', 'ImportExpression', 'ExportAllDeclaration'])
const BLOCKS = new Set(['Program', 'BlockStatement', 'SwitchCase'])
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
const TYPE_MEMBERS = new Set([
  'typeAnnotation',
  'typeArguments',
  'typeParameters',
  'returnType',
  'decorators',
])
const CONDITIONED = new Set(['IfStatement', 'ConditionalExpression'])
const LOOPS = new Set(['WhileStatement', 'ForStatement'])

const OPERATORS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '===': '!==',
    '!==': '===',
    '<': '<=',
    '<=': '<',
    '>': '>=',
    '>=': '>',
    '+': '-',
    '-': '+',
    '*': '/',
    '/': '*',
    '%': '*',
    '&&': '||',
    '||': '&&',
    '??': '&&',
    '+=': '-=',
    '-=': '+=',
    '++': '--',
    '--': '++',
  }),
)

const METHODS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    some: 'every',
    every: 'some',
    min: 'max',
    max: 'min',
    startsWith: 'endsWith',
    endsWith: 'startsWith',
    find: 'findLast',
    findLast: 'find',
    indexOf: 'lastIndexOf',
    lastIndexOf: 'indexOf',
    toLowerCase: 'toUpperCase',
  }),
)

function* ofNode(node: Node, text: (node: Node) => string): Generator<Found> {
  const { type, test, left, right, argument, operator, value, expression, arguments: given } = node
  if (CONDITIONED.has(type) && isNode(test)) {
    yield ['condition', test, 'true']
    yield ['condition', test, 'false']
  }
  if (LOOPS.has(type) && isNode(test)) yield ['condition', test, 'false']
  const other = OPERATORS.get(String(operator))
  if (/^(?:Binary|Logical)Expression$/.test(type) && isNode(left) && isNode(right) && other !== undefined)
    yield ['operator', node, `((${text(left)}) ${other} (${text(right)}))`]
  if (type === 'AssignmentExpression' && isNode(left) && isNode(right) && other !== undefined)
    yield ['operator', node, `(${text(left)} ${other} ${text(right)})`]
  if (type === 'UpdateExpression' && other !== undefined)
    yield ['operator', node, text(node).replace(String(operator), other)]
  if (type === 'UnaryExpression' && operator === '!' && isNode(argument))
    yield ['negation removed', node, `(${text(argument)})`]
  if (type === 'Literal') yield* ofLiteral(node, value)
  if (type === 'TemplateLiteral' && text(node).length > 2) yield ['text emptied', node, "''"]
  const { tag } = node
  if (type === 'TaggedTemplateExpression' && isNode(tag)) yield ['text emptied', node, `${text(tag)}\`\``]
  if (type === 'ArrayExpression' && nodesIn(node['elements']).length > 0) yield ['list emptied', node, '[]']
  if (type === 'ReturnStatement' && isNode(argument))
    yield ['nothing returned', node, 'return undefined', 'statement']
  if (type === 'ExpressionStatement' && isNode(expression) && node['directive'] === undefined)
    if (!text(node).startsWith('super(')) yield ['statement removed', node, '{}', 'statement']
  if (type === 'CallExpression' && isNode(node['callee']) && Array.isArray(given)) {
    const named = node['callee']['property']
    const instead = isNode(named) ? METHODS.get(String(named['name'])) : undefined
    if (isNode(named) && instead !== undefined) {
      const [before, after] = [named.start - node.start, named.end - node.start]
      yield ['method', node, text(node).slice(0, before) + instead + text(node).slice(after)]
    }
  }
}

function* ofLiteral(node: Node, value: unknown): Generator<Found> {
  if (typeof value === 'boolean') yield ['boolean', node, String(!value)]
  if (typeof value === 'number') yield ['number', node, String(value + 1)]
  if (typeof value === 'string') yield ['text emptied', node, value === '' ? "'other'" : "''"]
}

function nodesIn(value: unknown): readonly Node[] {
  if (isNode(value)) return [value]
  return Array.isArray(value) ? value.filter(isNode) : []
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}
