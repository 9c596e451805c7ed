import { isJsonObject, parseJson } from '../conversation/json-value.ts'
import type { Source } from '../conversation/source.ts'
import type { BodyFacts } from './contract.ts'

/** Whether one of the tools in a body is run by another model, which it names: an advisor, one that draws. Looked up when asked. */
export function toolsNameModel(source: Source, { tools }: Pick<BodyFacts, 'tools'>): boolean {
  const list: unknown = tools === null ? null : parseJson(source, tools)
  return Array.isArray(list) && list.some((tool) => isJsonObject(tool) && tool['model'] !== undefined)
}
