/** The lists in the footer of a Parquet file, as Thrift's compact protocol has them; hyparquet ignores their types. */

/** The types of Thrift's compact protocol that a footer has. */
export const thriftTypes = { list: 9, struct: 12 };

/** The type of the elements of each list of a file's footer, by the number of its field. */
export function listTypesIn(file: ArrayBuffer): ReadonlyMap<number, number> {
  const bytes = new Uint8Array(file);
  let at = bytes.length - 8 - new DataView(file).getUint32(bytes.length - 8, true);
  const found = new Map<number, number>();
  const next = () => bytes[at++] ?? Number.NaN;
  const varint = (): number => {
    const byte = next();
    return byte < 0x80 ? byte : (byte & 0x7f) + 0x80 * varint();
  };
  const skip = (type: number): void => {
    if (type === 1 || type === 2) return;
    if (type === 3) at += 1;
    else if (type >= 4 && type <= 6) varint();
    else if (type === 7) at += 8;
    else if (type === 8) binary();
    else if (type === thriftTypes.list) listOf();
    else if (type === thriftTypes.struct) structOf();
    else throw new Error(`Thrift has no type ${type}`);
  };
  const binary = (): void => {
    const length = varint();
    at += length;
  };
  const listOf = (): number => {
    const header = next();
    const size = header >> 4 === 15 ? varint() : header >> 4;
    for (let index = 0; index < size; index++) skip(header & 15);
    return header & 15;
  };
  const structOf = (onList: (field: number, type: number) => void = () => undefined): void => {
    let field = 0;
    for (let header = next(); header !== 0; header = next()) {
      field = header >> 4 === 0 ? varint() >> 1 : field + (header >> 4);
      if ((header & 15) === thriftTypes.list) onList(field, listOf());
      else skip(header & 15);
    }
  };
  structOf((field, type) => found.set(field, type));
  return found;
}
