import { expect, test } from 'vitest'
import { configurationPage, profileJsonSchema, settingsJsonSchema } from '../support/document.ts'

test('profile.schema.json is what the schema says', async () => {
  await expect(profileJsonSchema()).toMatchFileSnapshot('../../profiles/profile.schema.json')
})

test('settings.schema.json is what the schema says', async () => {
  await expect(settingsJsonSchema()).toMatchFileSnapshot('../../profiles/settings.schema.json')
})

test('docs/configuration.md lists what the schemas and the flag table hold', async () => {
  await expect(configurationPage()).toMatchFileSnapshot('../../docs/configuration.md')
})
