import fc from "fast-check";

const surrogates = { first: 0xd800, count: 0x800 } as const;

/** Any code point except unpaired surrogates, and some characters of several code points. */
const unit = fc.oneof(
  fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCodePoint(code)),
  fc
    .integer({ min: 0x80, max: 0x10_ffff - surrogates.count })
    .map((code) => String.fromCodePoint(code < surrogates.first ? code : code + surrogates.count)),
  fc.constantFrom("e\u0301", "\u{1f1eb}\u{1f1f7}", "\u{1f469}\u200d\u{1f692}"),
);

/**
 * Texts of any characters. The `binary` unit of fast-check says the same, but lists all of Unicode for every
 * arbitrary, which takes half a second.
 */
export function anyText(
  length: { readonly minLength?: number; readonly maxLength?: number } = {},
): fc.Arbitrary<string> {
  return fc.string({ unit, ...length });
}
