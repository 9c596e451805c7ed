import { describe, expect, test } from 'vitest'
import { audioSecondsOf } from '../../../src/dialects/media/audio-length.ts'
import { readMedia } from '../../../src/dialects/media/media.ts'
import { digest } from '../../support/source.ts'

function secondsOf(bytes: Buffer): number {
  return audioSecondsOf(bytes.toString('base64'), 0, bytes.length)
}

type Wav = { bytesPerSecond: number; dataBytes: number; statedBytes?: number; tagBytes?: number }

function wav({ bytesPerSecond, dataBytes, statedBytes = dataBytes, tagBytes = 0 }: Wav): Buffer {
  const format = Buffer.alloc(24)
  format.write('fmt ', 'latin1')
  format.writeUInt32LE(16, 4)
  format.writeUInt32LE(bytesPerSecond, 16)
  const tag = Buffer.alloc(8 + tagBytes + (tagBytes % 2))
  tag.write('LIST', 'latin1')
  tag.writeUInt32LE(tagBytes, 4)
  const data = Buffer.alloc(8 + dataBytes)
  data.write('data', 'latin1')
  data.writeUInt32LE(statedBytes, 4)
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), format, tag, data])
}

type Mp3 = {
  header: readonly number[]
  bytes: number
  tagBytes?: number
  frames?: number
  sideBytes?: number
}

function mp3({ header, bytes, tagBytes = 0, frames = 0, sideBytes = 32 }: Mp3): Buffer {
  const sound = Buffer.alloc(bytes)
  sound.set(header)
  if (frames > 0) {
    sound.write('Xing\0\0\0\x01', 4 + sideBytes, 'latin1')
    sound.writeUInt32BE(frames, 4 + sideBytes + 8)
  }
  if (tagBytes === 0) return sound
  const tag = Buffer.alloc(10 + tagBytes)
  tag.write('ID3\x04\0\0', 'latin1')
  for (let index = 0; index < 4; index += 1) tag[9 - index] = (tagBytes >> (7 * index)) & 0x7f
  return Buffer.concat([tag, sound])
}

// Layer III without checksum: MPEG 1 at 96 kbit/s and 48 kHz; MPEG 2 at 64 kbit/s and 24 kHz, mono.
const mpeg1 = [0xff, 0xfb, 0x74, 0xc4]
const mpeg2 = [0xff, 0xf3, 0x84, 0xc4]

describe('the seconds of a recording are read from its header', () => {
  test.each([
    ['WAV: 16 bits, mono, 24 kHz', wav({ bytesPerSecond: 48_000, dataBytes: 96_000 }), 2],
    ['WAV behind tags', wav({ bytesPerSecond: 16_000, dataBytes: 24_000, tagBytes: 5_001 }), 1.5],
    ['WAV streamed, without a size', wav({ bytesPerSecond: 8_000, dataBytes: 8_000, statedBytes: 0 }), 1],
    [
      'WAV streamed, of endless size',
      wav({ bytesPerSecond: 8_000, dataBytes: 8_000, statedBytes: 0xffff_ffff }),
      1,
    ],
    ['MP3 at 96 kbit/s', mp3({ header: mpeg1, bytes: 24_000 }), 2],
    ['MP3 at 64 kbit/s, MPEG 2', mp3({ header: mpeg2, bytes: 8_000 }), 1],
    ['MP3 behind a tag with a picture', mp3({ header: mpeg1, bytes: 24_000, tagBytes: 200_000 }), 2],
    ['WAV of a telephone, GSM', wav({ bytesPerSecond: 1_625, dataBytes: 3_250 }), 2],
    ['MP3 at its lowest rate', mp3({ header: [0xff, 0xf3, 0x18, 0xc4], bytes: 9_001 }), 9.001],
    ['MP3 of variable bit rate', mp3({ header: mpeg1, bytes: 9_000, frames: 250, sideBytes: 17 }), 6],
  ])('%s', (_, bytes, seconds) => {
    expect(secondsOf(bytes)).toBeCloseTo(seconds, 6)
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('no sound at all, just words')],
    ['Opus in Ogg', Buffer.from('OggS\0\0\0\0OpusHead')],
    ['a WAV without a rate', wav({ bytesPerSecond: 0, dataBytes: 96_000 })],
    ['a WAV without samples', wav({ bytesPerSecond: 8_000, dataBytes: 0 })],
    ['a WAV that ends early', wav({ bytesPerSecond: 8_000, dataBytes: 90 }).subarray(0, 30)],
    ['an MP3 of free bit rate', mp3({ header: [0xff, 0xfb, 0x04, 0xc4], bytes: 9_000 })],
    ['an MP3 with a forbidden rate', mp3({ header: [0xff, 0xfb, 0xf4, 0xc4], bytes: 9_000 })],
    ['AAC, which begins like an MP3', Buffer.from([0xff, 0xf1, 0x50, 0x80, 0, 0, 0, 0])],
  ])('%s has none', (_, bytes) => {
    expect(secondsOf(bytes)).toBe(0)
  })
})

const claim = (frames: number) => mp3({ header: mpeg1, bytes: 5_000, frames, sideBytes: 17 })

// A header was believed whatever it said: 5 kB that claimed six million frames were counted as 43 hours, and the whole
// conversation before them was folded away to make room.
describe('a recording is no longer than its data can hold', () => {
  test.each([
    ['an MP3 that counts six million frames', claim(6_000_000)],
    ['an MP3 that counts as many as it can write', claim(0xffff_ffff)],
    ['a WAV of one byte a second', wav({ bytesPerSecond: 1, dataBytes: 100_000 })],
    ['a WAV below 8 kbit/s', wav({ bytesPerSecond: 999, dataBytes: 100_000 })],
  ])('%s is not believed', (_, bytes) => {
    expect(secondsOf(bytes)).toBe(0)
  })

  test('up to there it is', () => {
    expect(secondsOf(claim(208))).toBeCloseTo(4.992, 6)
    expect(secondsOf(claim(209))).toBe(0)
  })
})

// OpenAI reported 44 tokens of audio for a recording of 4.4 s.
test('a part says how long it plays', () => {
  const data = mp3({ header: mpeg1, bytes: 24_000 }).toString('base64')
  expect(readMedia({ type: 'input_audio', input_audio: { data, format: 'mp3' } }, digest)).toMatchObject({
    kind: 'audio',
    seconds: 2,
    dataBytes: 24_000,
  })
  expect(
    readMedia({ type: 'audio_url', audio_url: { url: `data:audio/mpeg;base64,${data}` } }, digest),
  ).toMatchObject({ kind: 'audio', seconds: 2 })
})

describe('a file that is text is known as such', () => {
  const data = Buffer.from('some words').toString('base64')
  test.each([
    [
      { type: 'file', file: { file_data: `data:text/plain;base64,${data}` } },
      { isText: true, dataBytes: 10 },
    ],
    [
      { type: 'file', file: { file_data: `data:application/json;charset=utf-8;base64,${data}` } },
      { isText: true, dataBytes: 10 },
    ],
    [
      { type: 'file', file: { file_data: 'data:text/csv,a,b' } },
      { isText: true, dataBytes: 3 },
    ],
    [
      { type: 'document', source: { type: 'base64', media_type: 'text/markdown', data } },
      { isText: true, dataBytes: 10 },
    ],
    [
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
      { isText: true, dataBytes: 7 },
    ],
  ])('%j', (part, expected) => {
    expect(readMedia(part, digest)).toMatchObject({ kind: 'file', place: 'inline', ...expected })
  })

  test('a PDF is not', () => {
    const part = { type: 'file', file: { file_data: `data:application/pdf;base64,${data}` } }
    expect(readMedia(part, digest)).not.toHaveProperty('isText')
  })
})
