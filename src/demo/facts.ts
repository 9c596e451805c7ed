/** A specific thing that is said once, early, and asked for late. */
export type Fact = {
  readonly name: string
  readonly value: string
  /** How it is told. */
  readonly told: string
  /** How it is asked for; the value does not stand in it. */
  readonly question: string
}

export const facts: readonly [Fact, Fact, Fact, Fact] = [
  {
    name: 'port',
    value: '47113',
    told: 'The staging copy of the ledger database listens on port 47113, not on the usual one.',
    question: 'Which port does the staging copy of the ledger database listen on?',
  },
  {
    name: 'path',
    value: '/srv/ledger/etc/settlement-north.toml',
    told: 'The settings that are really in use are in /srv/ledger/etc/settlement-north.toml.',
    question: 'In which file are the settings that are really in use? Give the whole path.',
  },
  {
    name: 'id',
    value: 'po_7QX2M94KD',
    told: 'The first payout that was booked twice is po_7QX2M94KD.',
    question: 'What is the id of the first payout that was booked twice?',
  },
  {
    name: 'e-mail',
    value: 'ines.halvorsen@ledger.example',
    told: 'Before anything is deployed, ines.halvorsen@ledger.example has to agree.',
    question: 'Who has to agree before anything is deployed? Give the e-mail address.',
  },
]
