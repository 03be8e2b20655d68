import { once } from "node:events";
import type { Command } from "commander";
import type { OperationCall } from "./call-operation.ts";
import { type CallerOptions, tokenFor, withCaller } from "./login.ts";
import { wholeNumber } from "./options.ts";
import type { Print } from "./print.ts";

const webhookSecret =
  /^(?:whsec_)?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$/;

interface ListenOptions {
  readonly port: number;
}

/** `ncs webhooks`: the secrets that sign a caller's deliveries, and a receiver that verifies them. */
export function addWebhooks(webhooks: Command, print: Print, note: Print): void {
  withCaller(webhooks.command("create"))
    .description("create a secret that signs your deliveries, and print it, which is done only now")
    .action(async (options: CallerOptions) => {
      const { id, secret, createdAt } = (await called(options, "createWebhookSecret")) as Created;
      note(`${id}  ${createdAt}`);
      print(secret);
    });

  withCaller(webhooks.command("list"))
    .description("the ids and dates of your secrets, the oldest first")
    .action(async (options: CallerOptions) => {
      printSecrets(await called(options, "listWebhookSecrets"), print);
    });

  withCaller(webhooks.command("delete <id>"))
    .description(
      "delete a secret: attempts that begin afterwards are not signed with it; prints what is left",
    )
    .action(async (id: string, options: CallerOptions) => {
      printSecrets(await called(options, "deleteWebhookSecret", { id }), print);
    });

  webhooks
    .command("listen")
    .description(
      "be a sink on this machine, and print the deliveries that the secret in NCS_WEBHOOK_SECRET has signed",
    )
    .option("--port <port>", "at 127.0.0.1", wholeNumber(0, 65_535), 8080)
    .action(async ({ port }: ListenOptions) => {
      const secret = process.env.NCS_WEBHOOK_SECRET;
      if (!secret) throw new Error("set NCS_WEBHOOK_SECRET: `ncs webhooks create` prints one");
      if (!webhookSecret.test(secret)) {
        throw new Error("NCS_WEBHOOK_SECRET must be whsec_ and Base64, as `ncs webhooks create` prints it");
      }
      const { listenForDeliveries } = await import("./webhook-listener.ts");
      const { url } = await listenForDeliveries(secret, port, print, note);
      note(`listening at ${url}`);
      note("Send a request whose `sink` this is. Ctrl+C ends it.");
      // The program ends at signals.
      await once(process, "SIGINT");
    });
}

interface Listed {
  readonly id: string;
  readonly createdAt: string;
}

interface Created extends Listed {
  readonly secret: string;
}

function printSecrets(body: unknown, print: Print): void {
  for (const { id, createdAt } of (body as { readonly secrets: readonly Listed[] }).secrets) {
    print(`${id}  ${createdAt}`);
  }
}

/** The body that an operation answers a caller with. */
async function called(
  options: CallerOptions,
  operationId: string,
  request: OperationCall["request"] = {},
): Promise<unknown> {
  const { answer } = await import("./call-operation.ts");
  const token = await tokenFor(options);
  const { status, body } = await answer({ url: options.url, operationId, request, token, headers: {} });
  if (status >= 400) throw new Error(`${operationId} was answered with ${status}: ${body}`);
  return JSON.parse(body);
}
