/** So many of them, made from their numbers. */
export const times = <Each>(count: number, make: (number: number) => Each): Each[] =>
  Array.from({ length: count }, (_, number) => make(number))
