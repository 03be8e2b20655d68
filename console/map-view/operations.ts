/** The caller's operations: requests whose answers are delivered to a sink. */
import { Asking } from "../base/asking.ts";
import { demoSink } from "../base/demo.ts";
import { announce, buttonTo, html } from "../base/dom.ts";
import { IdempotencyKeys } from "../base/idempotency-keys.ts";
import { counted } from "../base/numbers.ts";
import { panel } from "../base/panel.ts";
import { callApi } from "../base/session.ts";
import { timeLabel } from "../base/time.ts";
import type { DensityRequest } from "../data/query.ts";

/** The members of an operation that the list shows (`GET /populationdensitydata/operations`). */
interface Operation {
  readonly operationId: string;
  readonly state: "PENDING" | "DELIVERED" | "REFUSED" | "FAILED" | "CANCELLED";
  readonly requestedAt: string;
  readonly cells: number;
  readonly intervals: number;
  readonly attempts: number;
  readonly lastAttempt?: { readonly outcome?: string; readonly httpStatus?: number };
  readonly nextAttemptAt?: string;
  readonly failureReason?: string;
}

interface OperationPage {
  readonly operations: readonly Operation[];
  readonly nextPageToken?: string;
}

/** A request that starts an operation. */
interface Delivery {
  readonly address: string;
  readonly body: object;
}

const path = "populationdensitydata/operations";

/** How often the list is read again while it is open and something in it is pending. */
const followMilliseconds = 5_000;

/** The panel. */
export class OperationList {
  readonly element: HTMLDetailsElement;
  readonly #requests: () => readonly DensityRequest[] | undefined;
  readonly #asking = new Asking();
  readonly #list = html("div");
  readonly #keys = new IdempotencyKeys();
  readonly #sink = html("input", {
    id: "sink",
    type: "url",
    placeholder: "https://example.com/densities",
    spellcheck: "false",
    value: demoSink,
  });
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param requests what the form asks for; undefined while it cannot be asked for */
  constructor(requests: () => readonly DensityRequest[] | undefined) {
    this.#requests = requests;
    this.element = panel(
      "Your operations",
      { name: "operations", onOpen: () => void this.#read() },
      html("p", { class: "note" }, "Requests whose answers are delivered to a sink, of the last day."),
      html("label", { for: "sink" }, "Sink"),
      this.#sink,
      buttonTo("Deliver to this sink", () => void this.#order()),
      this.#asking.element,
      this.#list,
    );
  }

  /** Reads the first page, and again while something is pending and the panel is open. */
  async #read(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.element.open || !this.element.isConnected) return;
    const page = await this.#asking.ask({ ask: (signal) => readPage(signal), text: "Reading…" });
    if (page === undefined) return;
    this.#list.replaceChildren(...this.#pageElements(page));
    const isPending = page.operations.some(({ state }) => state === "PENDING");
    if (isPending) this.#timer = setTimeout(() => void this.#read(), followMilliseconds);
  }

  #pageElements({ operations, nextPageToken }: OperationPage): HTMLElement[] {
    if (operations.length === 0) return [html("p", {}, "There are none. A request with a sink starts one.")];
    const more = buttonTo("More", async () => {
      const next = await this.#asking.ask({ ask: (signal) => readPage(signal, nextPageToken) });
      if (next !== undefined) more.replaceWith(...this.#pageElements(next));
    });
    const list = html("ul", { class: "plain" }, ...operations.map((operation) => this.#item(operation)));
    return nextPageToken === undefined ? [list] : [list, more];
  }

  #item(operation: Operation): HTMLElement {
    const { operationId, state, requestedAt, cells, intervals } = operation;
    const size = `${counted(cells, "cell")} × ${counted(intervals, "hour")}`;
    const action =
      state === "PENDING"
        ? buttonTo("Cancel", () => void this.#cancel(operationId), { class: "chip" })
        : buttonTo("Deliver again", () => void this.#again(operationId), { class: "chip" });
    return html(
      "li",
      {},
      html("span", { class: `state ${state}` }, state),
      html("span", {}, timeLabel(new Date(requestedAt))),
      html("code", { class: "id" }, operationId),
      html("span", { class: "note" }, `${size}, ${attemptText(operation)}`),
      failureNote(operation),
      html("span", { class: "row" }, action),
    );
  }

  /** Asks for what the form asks for, to be delivered. */
  async #order(): Promise<void> {
    const requests = this.#requests();
    if (requests === undefined || !this.#hasSink()) return;
    const sink = this.#sink.value;
    const address = "populationdensitydata/retrieve";
    await this.#deliver(requests.map((request) => ({ address, body: { ...request, sink } })));
  }

  async #again(operationId: string): Promise<void> {
    if (!this.#hasSink()) return;
    await this.#deliver([{ address: `${path}/${operationId}/redeliver`, body: { sink: this.#sink.value } }]);
  }

  /** Starts operations. They keep their keys until all of them are accepted: those that are sent again start nothing. */
  async #deliver(deliveries: readonly Delivery[]): Promise<void> {
    const wanted = JSON.stringify(deliveries);
    const key = this.#keys.of(wanted);
    await this.#change(async (signal) => {
      for (const [index, { address, body }] of deliveries.entries()) {
        const headers = { "idempotency-key": `${key}-${index}` };
        await callApi(address, { method: "POST", headers, body: JSON.stringify(body), signal });
      }
      this.#keys.accepted(wanted);
    });
  }

  async #cancel(operationId: string): Promise<void> {
    await this.#change((signal) => callApi(`${path}/${operationId}`, { method: "DELETE", signal }));
  }

  async #change(ask: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    clearTimeout(this.#timer);
    const change = async (signal: AbortSignal) => {
      await ask(signal);
      return true;
    };
    if (await this.#asking.ask({ ask: change })) await this.#read();
  }

  #hasSink(): boolean {
    if (this.#sink.value !== "" && this.#sink.checkValidity()) return true;
    announce("A sink is an https address to which answers are posted.");
    this.#sink.focus();
    return false;
  }
}

async function readPage(signal: AbortSignal, pageToken?: string): Promise<OperationPage> {
  const query = new URLSearchParams(pageToken === undefined ? {} : { pageToken });
  return (await callApi(`${path}?${query}`, { signal })).json as OperationPage;
}

/** Why an operation failed, as a sentence; nothing for others. */
function failureNote({ failureReason = "" }: Operation): HTMLElement | false {
  const sentences: Readonly<Record<string, string>> = {
    NOT_COMPUTED: "The answer could not be computed.",
    ATTEMPTS_EXHAUSTED: "The sink took the answer at no attempt.",
    TIME_OVER: "The answer could not be delivered within a day.",
    TOKEN_EXPIRED: "The access token for the sink had expired.",
    POSSIBLY_DELIVERED: "The sink was sent the whole answer, and did not say whether it has it.",
  };
  const sentence = sentences[failureReason];
  return sentence !== undefined && html("span", { class: "note" }, sentence);
}

/** The attempts so far, why the last one failed, and when the next one is: `2 attempts, 404 from the sink`. */
function attemptText({ attempts, lastAttempt = {}, nextAttemptAt, failureReason }: Operation): string {
  const { outcome = "", httpStatus } = lastAttempt;
  const reasons: Readonly<Record<string, string>> = {
    FAILED: httpStatus === undefined ? "the sink did not answer" : `${httpStatus} from the sink`,
    REFUSED: httpStatus === undefined ? "the sink was refused" : `${httpStatus} from the sink`,
    NOT_COMPUTED: "the answer could not be computed",
  };
  const next = nextAttemptAt === undefined ? undefined : `next ${timeLabel(new Date(nextAttemptAt))}`;
  // What is also why the operation failed is a sentence of its own.
  const reason = outcome === failureReason ? undefined : reasons[outcome];
  return [counted(attempts, "attempt"), reason, next].filter((part) => part !== undefined).join(", ");
}
