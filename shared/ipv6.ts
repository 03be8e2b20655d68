/**
 * The /64 network of an IPv6 address in one canonical form.
 * @param address one that `isIPv6` accepts, without a zone.
 */
export function networkOf(address: string): string {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const first = head === "" ? [] : head.split(":");
  if (tail === undefined) return first.slice(0, 4).join(":");
  const last = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  return [...first, ...zeros, ...last].slice(0, 4).join(":");
}
