/** The first bytes of images as encoders write them, for tests of the size that is read from them. */

export function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(33)
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

export function gif(width: number, height: number): Buffer {
  const bytes = Buffer.from('GIF89a\0\0\0\0\0\0\0', 'latin1')
  bytes.writeUInt16LE(width, 6)
  bytes.writeUInt16LE(height, 8)
  return bytes
}

/** A JPEG whose frame header stands behind an EXIF block of `exifBytes`. */
export function jpeg(width: number, height: number, exifBytes = 100): Buffer {
  const exif = Buffer.alloc(exifBytes + 2, 0xc0)
  exif.writeUInt16BE(exifBytes, 2)
  exif[0] = 0xff
  exif[1] = 0xe1
  const huffman = Buffer.from([0xff, 0xff, 0xc4, 0, 3, 0])
  const frame = Buffer.from([0xff, 0xc2, 0, 17, 8, 0, 0, 0, 0, 3, 0])
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  return Buffer.concat([Buffer.from([0xff, 0xd8]), exif, huffman, frame])
}

export function webp(format: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Buffer {
  const bytes = Buffer.alloc(40)
  bytes.write(`RIFF\0\0\0\0WEBP${format}`, 'latin1')
  if (format === 'VP8 ') {
    bytes.write('\x9d\x01\x2a', 23, 'latin1')
    // The two high bits are a scaling hint and no part of the size.
    bytes.writeUInt16LE(width | 0x4000, 26)
    bytes.writeUInt16LE(height | 0x8000, 28)
  } else if (format === 'VP8L') {
    bytes[20] = 0x2f
    bytes.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 21)
  } else {
    bytes.writeUIntLE(width - 1, 24, 3)
    bytes.writeUIntLE(height - 1, 27, 3)
  }
  return bytes
}
