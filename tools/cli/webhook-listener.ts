import { createServer } from "node:http";
import { nodeListener } from "../../client/node-listener.ts";
import { createReceiver } from "../../client/receiver.ts";
import { plural } from "../../shared/plural.ts";
import { type ListeningServer, listen } from "../local/servers/listening-server.ts";
import type { Print } from "./print.ts";

/**
 * Opens a sink at 127.0.0.1 that prints a line for each operation whose delivery a secret has signed.
 * @param port 0 for any that is free.
 * @param note prints the status with which another request was refused.
 */
export async function listenForDeliveries(
  secret: string,
  port: number,
  print: Print,
  note: Print,
): Promise<ListeningServer> {
  const receive = createReceiver({
    webhookSecret: secret,
    onDelivery: ({ operationId, status, timedPopulationDensityData }) => {
      const hours = timedPopulationDensityData.length;
      const cells = timedPopulationDensityData[0]?.cellPopulationDensityData.length ?? 0;
      print(
        `${operationId}  ${status}  ${hours} ${plural(hours, "hour")} of ${cells} ${plural(cells, "cell")}  signature verified`,
      );
    },
  });
  const listener = nodeListener(async (request) => {
    const response = await receive(request);
    if (!response.ok) note(`refused with ${response.status}${reasons[response.status] ?? ""}`);
    return response;
  });
  return await listen(createServer(listener), port);
}

const reasons: Readonly<Record<number, string>> = {
  400: ": not a delivery",
  401: ": not signed with this secret, changed, or more than five minutes old",
};
