import { Resolver } from "node:dns/promises";

/** How long addresses of one family wait for the other family; some name servers never answer for one of them. */
const otherFamilyMilliseconds = 500;

/** A lost packet is sent again within the three seconds that an attempt waits for a name. */
const retries = { timeout: 1_000, tries: 3 };

/**
 * Resolves a public host name to all of its addresses, IPv4 first, with the machine's name servers, but without search
 * domains and the hosts file.
 *
 * `dns.lookup` would occupy a thread of Node's pool until the system gives up, even if no one is waiting any more, so
 * that a few names without an answer could block all others. A `Resolver` uses no thread, and can be cancelled.
 * @param servers `address:port` of name servers to use instead of the machine's, for tests.
 * @returns an empty list for a name that has no addresses.
 * @throws an error with a code: `ECANCELLED` if the signal aborts, another, such as `ENOTFOUND`, if no address is found
 * and a name server did not answer that there is none.
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
