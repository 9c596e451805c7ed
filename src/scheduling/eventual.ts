/** A value that is there already, or will be: what need not be waited for costs no promise. */
export type Eventual<Value> = Value | Promise<Value>

/** Goes on with a value once it is there: now, if it is. */
export function onceThere<Value, Result>(
  value: Eventual<Value>,
  goOn: (value: Value) => Eventual<Result>,
): Eventual<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}
