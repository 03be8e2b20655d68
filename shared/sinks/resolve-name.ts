import { Resolver } from "node:dns/promises";

/** How long addresses of one family wait for those of the other, which some name servers never answer for. */
const otherFamilyMilliseconds = 500;

/** A packet that is lost is sent again within the three seconds that an attempt waits for a name. */
const retries = { timeout: 1_000, tries: 3 };

/**
 * All addresses of a public host name, IPv4 first, as the machine's name servers give them. The name is asked for as it
 * is: no search domain and no hosts file.
 *
 * `dns.lookup` takes a thread of Node's pool until the system gives up, also when nobody waits any more, so that a few
 * names that nobody answers for hold up all others. A resolver of its own takes none, and ends when it is cancelled.
 * @param servers `address:port` of other name servers than the machine's, for tests.
 * @returns an empty list for a name that has no addresses.
 * @throws an error with a code such as `ENOTFOUND` when no address is known and a name server did not say that there is
 * none, and `ECANCELLED` when the signal aborts.
 */
export async function resolveName(
  name: string,
  signal: AbortSignal,
  servers: readonly string[] = [],
): Promise<readonly string[]> {
  signal.throwIfAborted();
  const resolver = new Resolver(retries);
  if (servers.length > 0) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel);
  let timer: NodeJS.Timeout | undefined;
  const waitBriefly = (addresses: readonly string[]) => {
    if (addresses.length > 0) timer ??= setTimeout(cancel, otherFamilyMilliseconds);
    return addresses;
  };
  try {
    const families = [resolver.resolve4(name).then(waitBriefly), resolver.resolve6(name).then(waitBriefly)];
    const answers = await Promise.allSettled(families);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    const failure = failures.find(({ code }) => code !== "ENODATA");
    if (addresses.length === 0 && failure !== undefined) throw failure;
    return addresses;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
