/** A value with its weight, from a header such as `Accept`. */
export interface Weighted {
  /** In lower case, without parameters. */
  readonly value: string;
  /** 0 to 1; 0 for a value that is not acceptable. */
  readonly weight: number;
}

/**
 * The values of a header with their weights (RFC 9110, 12.4.2). Values with a malformed weight are left out. Other
 * parameters are ignored, so that `application/json; charset=utf-8` names JSON; `negotiator` takes it for another type.
 */
export function weightedValues(header: string): readonly Weighted[] {
  return header.split(",").flatMap((part) => {
    const [value = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    return value !== "" && /^[\d.]+$/.test(weight) && Number(weight) <= 1
      ? [{ value, weight: Number(weight) }]
      : [];
  });
}
