/** The caller's webhook secrets, with which deliveries are signed. */
import { Asking } from "../base/asking.ts";
import { buttonTo, html } from "../base/dom.ts";
import { panel } from "../base/panel.ts";
import { callApi } from "../base/session.ts";
import { timeLabel } from "../base/time.ts";

interface Secret {
  readonly id: string;
  readonly createdAt: string;
  /** In the answer to its creation alone. */
  readonly secret?: string;
}

const path = "populationdensitydata/webhook-secrets";

/** Creates the panel: secrets are created, shown once, and deleted. */
export function webhookSecrets(): HTMLElement {
  const asking = new Asking();
  const [created, list] = [html("div", { "aria-live": "polite" }), html("ul", { class: "plain" })];
  const ask = async (method: string, address = path) =>
    await asking.ask({
      ask: async (signal) => (await callApi(address, { method, signal })).json,
    });
  const show = (answer: unknown) => {
    if (answer === undefined) return;
    const { secrets } = answer as { readonly secrets: readonly Secret[] };
    list.replaceChildren(
      ...secrets.map(({ id, createdAt }) =>
        html(
          "li",
          {},
          html("code", { class: "id" }, id),
          html("span", { class: "note" }, `since ${timeLabel(new Date(createdAt))}`),
          html(
            "span",
            { class: "row" },
            buttonTo("Delete", async () => show(await ask("DELETE", `${path}/${id}`)), { class: "chip" }),
          ),
        ),
      ),
    );
  };
  const read = async () => show(await ask("GET"));
  const create = async () => {
    const secret = (await ask("POST")) as Secret | undefined;
    if (secret?.secret === undefined) return;
    created.replaceChildren(html("p", { class: "warning" }, "Shown once: ", html("code", {}, secret.secret)));
    await read();
  };
  return panel(
    "Webhook secrets",
    {
      name: "webhook-secrets",
      onOpen: () => {
        created.replaceChildren();
        void read();
      },
    },
    html("p", { class: "note" }, "Deliveries are signed with each of them; there are two at most."),
    buttonTo("Create a secret", () => void create()),
    asking.element,
    created,
    list,
  );
}
