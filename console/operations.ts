import { html } from "./dom.ts";
import { counted } from "./numbers.ts";
import { ApiProblem, call } from "./session.ts";
import { timeLabel } from "./time.ts";

/** What the list shows of `GET /populationdensitydata/operations`. */
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

/** The operations of the caller, which are read when the list is opened. */
export function operationList(): HTMLElement {
  const place = html("div", { "aria-live": "polite" });
  const read = async () => {
    place.replaceChildren(html("p", { class: "note" }, "Reading…"));
    try {
      place.replaceChildren(...(await pageAfter(undefined)));
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      place.replaceChildren(html("p", { class: "problem" }, error.message));
    }
  };
  const details = html(
    "details",
    { class: "operations", toggle: () => void (details.open ? read() : undefined) },
    html("summary", {}, "Your operations"),
    html("p", { class: "note" }, "Requests with a sink, of the last day."),
    place,
    html("button", { type: "button", click: read }, "Refresh"),
  );
  return details;
}

async function pageAfter(pageToken: string | undefined): Promise<HTMLElement[]> {
  const query = new URLSearchParams(pageToken === undefined ? {} : { pageToken });
  const response = await call(`populationdensitydata/operations?${query}`);
  const { operations, nextPageToken } = (await response.json()) as OperationPage;
  if (operations.length === 0 && pageToken === undefined) {
    return [html("p", {}, "There are none. A request with a sink starts one.")];
  }
  const list = html("ul", { class: "plain" }, ...operations.map(item));
  if (nextPageToken === undefined) return [list];
  const more = html("button", { type: "button", click: () => void addMore() }, "More");
  const addMore = async () => {
    try {
      more.replaceWith(...(await pageAfter(nextPageToken)));
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      more.replaceWith(html("p", { class: "problem" }, error.message));
    }
  };
  return [list, more];
}

function item({ operationId, state, requestedAt, cells, intervals, attempts, nextAttemptAt }: Operation) {
  const next = nextAttemptAt === undefined ? "" : `, next ${timeLabel(new Date(nextAttemptAt))}`;
  return html(
    "li",
    {},
    html("span", { class: `state ${state}` }, state),
    html("span", {}, timeLabel(new Date(requestedAt))),
    html("code", { class: "id" }, operationId),
    html(
      "span",
      { class: "note" },
      `${counted(cells, "cell")} × ${counted(intervals, "hour")}, ${counted(attempts, "attempt")}${next}`,
    ),
  );
}
