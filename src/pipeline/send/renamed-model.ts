import type { Form, PreparedRequest } from '../request.ts'
import type { Target } from '../../upstream/target.ts'
import { withReplaced } from './outgoing-body.ts'

/** The form with the model's name that the request is sent under; every other byte stays. */
export function withRenamedModel(
  form: Form,
  { renamedTo, deployment }: Pick<PreparedRequest, 'renamedTo' | 'deployment'>,
): Form {
  if (renamedTo === null) return form
  const place = form.chat.body.modelPlace
  const name = JSON.stringify(renamedTo)
  if (place.start < place.end) return { ...form, pieces: withReplaced(form.pieces, place, name) }
  // Where the path names the model, a body need not.
  if (deployment !== null) return form
  return { ...form, pieces: withReplaced(form.pieces, place, `"model":${name},`) }
}

/** The target with another deployment, if its path names one (Azure). */
export function withDeployment(target: Target, deployment: string): Target {
  const name = encodeURIComponent(deployment)
  const path = target.path.replace(
    /(\/openai\/deployments\/)[^/?]+(?=\/)/,
    (_, before: string) => before + name,
  )
  return path === target.path ? target : { ...target, path }
}
