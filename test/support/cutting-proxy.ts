import { createServer, request as requestTo } from "node:http";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";

/**
 * What becomes of an answer. `cut`: the connection ends at half of its body. `half`: half of its body is given for the
 * whole, as by a proxy that was cut itself. `portal`: the login page of a network comes instead, with status 200.
 */
type Damage = "cut" | "half" | "portal";

/** A proxy between a page and its service. */
export interface CuttingProxy extends ListeningServer {
  /** Damages the answers at paths that have this text in them from now on; without a damage, none. */
  damage(damage?: Damage, path?: string): void;
}

/** Opens a proxy of the service at an address, which passes everything on at first. */
export async function openCuttingProxy(target: string): Promise<CuttingProxy> {
  const { host } = new URL(target);
  let [damage, damaged]: [Damage | undefined, string] = [undefined, ""];
  const server = createServer((request, response) => {
    const { method, url = "" } = request;
    // Halves of compressed bodies would be another damage.
    const { "accept-encoding": _, ...headers } = { ...request.headers, host };
    const asking = requestTo(target + url, { method, headers }, async (answer) => {
      const body = Buffer.concat(await answer.toArray());
      const { "transfer-encoding": _, ...others } = answer.headers;
      const half = body.subarray(0, Math.floor(body.length / 2));
      const done = url.includes(damaged) ? damage : undefined;
      if (done === "portal") {
        response.writeHead(200, { "content-type": "text/html" }).end("<title>Welcome to our Wi-Fi</title>");
        return;
      }
      const sent = done === undefined ? body : half;
      const length = done === "half" ? half.length : body.length;
      response.writeHead(answer.statusCode ?? 500, { ...others, "content-length": length });
      if (done === "cut") response.write(sent, () => response.destroy());
      else response.end(sent);
    });
    asking.on("error", () => response.destroy());
    request.pipe(asking);
  });
  return {
    ...(await listen(server, 0)),
    damage: (next, path = "") => {
      [damage, damaged] = [next, path];
    },
  };
}
