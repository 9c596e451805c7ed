import { describe, expect, test } from 'vitest'
import { directiveOf, DIRECTIVE_SCORE } from '../../../../src/compaction/recap/user/directive.ts'
import { forms, formsIn, languagesIn } from '../../../../src/compaction/recap/user/forms.ts'
import placeRows from '../../../../src/compaction/recap/user/places.json' with { type: 'json' }
import wordLists from '../../../../src/compaction/recap/user/word-lists.json' with { type: 'json' }
import { cellsOf, evened } from '../../../../src/compaction/recap/user/words.ts'
import { halves, phrasingsOf } from '../../../runs/rules/phrasing.ts'

/** As a phrase is looked up: what is matched in it has no marks but `^`, `*` and `$`. */
const spelt = /^\^?\*?[^\s*^$.;:]+(?: [^\s*^$.;:]+)*(?: ?\*)?\$?$/

const repeated = (entries: readonly string[]) => entries.filter((entry, at) => entries.indexOf(entry) < at)

describe('how people say that something is to hold', () => {
  test('each form is heard in its sample', () => {
    expect(forms.length).toBeGreaterThan(300)
    expect(
      forms.filter(({ kind, sample }) => ![...formsIn(sample).kinds].some((each) => each === kind)),
    ).toEqual([])
  })

  test('every phrase is spelt as it is looked up, and stands once in its row', () => {
    const all = forms.flatMap(({ phrases }) => phrases)
    expect(all.filter((phrase) => !spelt.test(phrase))).toEqual([])
    for (const { phrases } of forms) expect(repeated(phrases)).toEqual([])
  })

  test('so are the words for places in lists, and the lists of words', () => {
    for (const row of Object.values(placeRows)) {
      const [, ...words] = cellsOf(row)
      expect(words).toHaveLength(13)
      expect(words.filter((text) => text !== evened(text))).toEqual([])
    }
    for (const list of Object.values(wordLists)) expect(repeated(cellsOf(list))).toEqual([])
    for (const list of [wordLists.openers, wordLists.shortenings]) expect(evened(list)).toBe(list)
  })

  test('are known in the languages that `npm run rules` asks for, and in no other', () => {
    const asked = halves.flatMap((half) => phrasingsOf(half).map(({ language }) => language))
    expect(new Set(forms.map(({ language }) => language))).toEqual(new Set(asked))
  })

  test('a word of one language says nothing in another: "was" asks in German and tells in English', () => {
    expect([...formsIn('Was kostet das Brot in der Stadt?').kinds]).toContain('question')
    expect([...formsIn('It was the bread of the town.').kinds]).not.toContain('question')
    const german = languagesIn('Ich habe das Brot gekauft, und es war gut. Wir sind nach Hause gegangen.')
    expect([...formsIn('Nur so.', german).kinds]).toContain('limit')
  })
})

// "I was wrong before, four digits it is" was lost: "was" tells of what happened.
test.each([
  'I was wrong before, the lab wants four digits.',
  'That was a mistake of mine, the branch is called trunk.',
  'On second thought the narrator is her uncle.',
  'Sorry, I said Monday, it is Thursday.',
])('what corrects tells no story by the words that it corrects with: %s', (sentence) => {
  const { score, isCorrection } = directiveOf(sentence)
  expect(isCorrection).toBe(true)
  expect(score).toBeGreaterThan(directiveOf('The lake was calm and we went home.').score + 3)
})

test('who is sorry for the late reply corrects nothing', () => {
  expect(directiveOf('Sorry for the late reply.').isCorrection).toBe(false)
})

test('a place in a list is chosen where nothing else is numbered by it', () => {
  expect([...formsIn('The second, please.').kinds]).toContain('choice')
  expect([...formsIn('The second replica lags.').kinds]).not.toContain('choice')
})

describe('a sentence is judged by its form', () => {
  const rules = [
    'Never push to main.',
    'You must not rename the tables.',
    'please dont touch the schema',
    'Let’s go with Postgres.',
    'I’d rather have tabs.',
    'Actually, make it Thursday.',
    'From now on all prices are net.',
    'Could you please never use emojis?',
    'Bitte niemals Umlaute ersetzen.',
    'Ne modifie jamais ce fichier.',
    'Prefiero respuestas cortas.',
    'Não use dependências externas.',
    'D’ora in poi rispondi in italiano.',
    'Gebruik nooit tabs.',
    'Använd aldrig engelska ord.',
    'Nie używaj skrótów.',
    'Nikdy neměň schéma.',
    'Никогда не меняй схему.',
    'Ніколи не змінюй схему.',
    'Asla tabloları değiştirme.',
    '千万不要修改表结构。',
    'テーブルは絶対に変更しないでください。',
    '표는 절대 바꾸지 마세요.',
    'لا تغير الجداول أبدا.',
    'तालिकाएँ कभी मत बदलना।',
    'Jangan pernah mengubah tabel.',
    'Đừng bao giờ sửa bảng.',
  ]
  const others = [
    'What is a mutex?',
    'Write a poem about a keeper who never slept.',
    'I never understood what he meant by it.',
    'The museum was closed, it only opens in April.',
    'Ich habe das nie verstanden.',
    'My neighbour never said a word about the roof.',
    'The long run has never been easy, as far as I can see.',
    'Je n’ai jamais compris pourquoi il disait cela.',
    'Объясни разницу между фьордом и эстуарием.',
    '东京现在几点？',
    'Could you explain how a heat pump works?',
  ]

  test.each(rules)('as a directive: %s', (sentence) => {
    expect(directiveOf(sentence).score).toBeGreaterThanOrEqual(DIRECTIVE_SCORE)
  })

  test.each(others)('as none: %s', (sentence) => {
    expect(directiveOf(sentence).score).toBeLessThan(DIRECTIVE_SCORE)
  })

  test('and not by what it is about', () => {
    expect(directiveOf('Never mention zebras.')).toEqual(directiveOf('Never mention invoices.'))
  })

  test('whatever it is made of', () => {
    for (const piece of ['a', ' ', '.', '?', '`', '-', '*', '(', '不', '한', '\ud800', "'", '\n', 'never '])
      expect(directiveOf(piece.repeat(100_000)).score).toBeLessThan(20)
  })
})
