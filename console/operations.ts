/** The list of the caller's operations. */
import { html } from "./dom.ts";
import { ApiError } from "./http.ts";
import { counted } from "./numbers.ts";
import { panel } from "./panel.ts";
import { callApi } from "./session.ts";
import { timeLabel } from "./time.ts";

/** The members of an operation that the list shows (`GET /populationdensitydata/operations`). */
interface Operation {
  readonly operationId: string;
  readonly state: string;
  readonly requestedAt: string;
  readonly cells: number;
  readonly intervals: number;
  readonly attempts: number;
  readonly nextAttemptAt?: string;
}

interface OperationPage {
  readonly operations: readonly Operation[];
  readonly nextPageToken?: string;
}

/** Creates the list, which is loaded each time it is opened. */
export function operationList(): HTMLElement {
  const place = html("div", { "aria-live": "polite" });
  const read = async () => {
    place.replaceChildren(html("p", { class: "note" }, "Reading…"));
    place.replaceChildren(...(await readPage()));
  };
  return panel(
    "Your operations",
    { name: "operations", onOpen: () => void read() },
    html("p", { class: "note" }, "Requests with a sink, of the last day."),
    place,
    html("button", { type: "button", click: read }, "Refresh"),
  );
}

/** One page of operations, with a button for the next one, or the API's error. */
async function readPage(pageToken?: string): Promise<HTMLElement[]> {
  const query = new URLSearchParams(pageToken === undefined ? {} : { pageToken });
  try {
    const response = await callApi(`populationdensitydata/operations?${query}`);
    const { operations, nextPageToken } = (await response.json()) as OperationPage;
    if (operations.length === 0 && pageToken === undefined) {
      return [html("p", {}, "There are none. A request with a sink starts one.")];
    }
    const list = html("ul", { class: "plain" }, ...operations.map(item));
    return nextPageToken === undefined ? [list] : [list, moreButton(nextPageToken)];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [html("p", { class: "problem" }, error.message)];
  }
}

function moreButton(pageToken: string): HTMLElement {
  const readMore = async (): Promise<void> => button.replaceWith(...(await readPage(pageToken)));
  const button = html("button", { type: "button", click: readMore }, "More");
  return button;
}

function item({ operationId, state, requestedAt, cells, intervals, attempts, nextAttemptAt }: Operation) {
  const size = `${counted(cells, "cell")} × ${counted(intervals, "hour")}`;
  const next = nextAttemptAt === undefined ? "" : `, next ${timeLabel(new Date(nextAttemptAt))}`;
  return html(
    "li",
    {},
    html("span", { class: `state ${state}` }, state),
    html("span", {}, timeLabel(new Date(requestedAt))),
    html("code", { class: "id" }, operationId),
    html("span", { class: "note" }, `${size}, ${counted(attempts, "attempt")}${next}`),
  );
}
