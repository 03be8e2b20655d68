import { open } from "node:fs/promises";
import { GridRefused } from "./georeference.ts";

/** The bytes of a value, by the types of TIFF and BigTIFF. */
const typeBytes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];

/** An image has a mask, and both have an overview for each time that they are halved. */
const mostDirectories = 64;

/**
 * Walks the directories of a TIFF, of which the library takes as much memory as their tags say, and does not see that
 * they go round.
 * @throws {GridRefused} for tags whose values are not in the file, and for too many directories.
 * @throws {RangeError} for a directory that is not in the file.
 */
export async function requireDirectories(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const read = async (at: number, length: number) => {
      if (at + length > size) throw new RangeError("is not in the file");
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, at);
      return new DataView(buffer.buffer, buffer.byteOffset, length);
    };
    const header = await read(0, 8);
    const isLittle = header.getUint16(0) === 0x4949;
    const isBig = header.getUint16(2, isLittle) === 43;
    const numberIn = (view: DataView, at: number) =>
      isBig ? Number(view.getBigUint64(at, isLittle)) : view.getUint32(at, isLittle);
    const [countBytes, entryBytes, wordBytes] = isBig ? [8, 20, 8] : [2, 12, 4];
    let at = numberIn(await read(isBig ? 8 : 4, wordBytes), 0);
    for (let directories = 1; at !== 0; directories++) {
      if (directories > mostDirectories) {
        throw new GridRefused(`has more than ${mostDirectories} images`);
      }
      const head = await read(at, countBytes);
      const entries = isBig ? numberIn(head, 0) : head.getUint16(0, isLittle);
      const table = await read(at + countBytes, entries * entryBytes + wordBytes);
      for (let entry = 0; entry < entries * entryBytes; entry += entryBytes) {
        const bytes = numberIn(table, entry + 4) * (typeBytes[table.getUint16(entry + 2, isLittle)] ?? 0);
        if (bytes > wordBytes && numberIn(table, entry + 4 + wordBytes) + bytes > size) {
          throw new GridRefused("ends before its tags do: it is damaged, or was not downloaded whole");
        }
      }
      at = numberIn(table, entries * entryBytes);
    }
  } finally {
    await file.close();
  }
}
