/** Sends the request of a draft, and shows its response. */
import { Asking } from "../base/asking.ts";
import { announce, html } from "../base/dom.ts";
import { fetchFrom } from "../base/http.ts";
import { IdempotencyKeys } from "../base/idempotency-keys.ts";
import { askForLogin } from "../base/login-dialog.ts";
import { currentLogin, fetchWithToken, onLoginChange } from "../base/session.ts";
import { type Answer, successful } from "../base/whole-answer.ts";
import type { Choice } from "./choice.ts";
import { type Draft, snippetOf } from "./draft.ts";

/** Values of parameters of paths that responses have brought, by the name of the parameter. */
export type KnownValues = Choice<Readonly<Record<string, string>>>;

/** A response, and how long it took. */
export interface Sent extends Answer {
  readonly milliseconds: number;
}

/**
 * Creates the place where responses are shown, and the buttons that send, one request at a time.
 * @param show the elements of a response; an ApiError that it throws is shown with what one can do about it.
 */
export function sending(
  draft: Draft,
  known: KnownValues,
  show: (sent: Sent) => Promise<readonly Node[]> | readonly Node[],
) {
  const asking = new Asking();
  const shown = html("div");
  const keys = new IdempotencyKeys();
  const buttons: HTMLButtonElement[] = [];
  let isSending = false;
  const markSending = (isSendingNow: boolean) => {
    isSending = isSendingNow;
    // A button that is disabled loses the focus.
    for (const button of buttons) button.setAttribute("aria-disabled", String(isSendingNow));
  };
  const send = async () => {
    if (isSending) return;
    if (!draft.isPublic && currentLogin() === undefined) {
      askForLogin();
      return;
    }
    shown.replaceChildren();
    const ask = async (signal: AbortSignal) => {
      markSending(true);
      try {
        const sent = await sendDraft(draft, keys, signal);
        return { sent, elements: await show(sent) };
      } finally {
        markSending(false);
      }
    };
    const answer = await asking.ask({ ask, text: "Sending…", isCancellable: true });
    if (answer === undefined) return;
    announce(`The response is ${answer.sent.status}.`);
    // What a deletion leaves is not what the next one is meant for.
    if (draft.endpoint.method !== "DELETE") known.set({ ...known.get(), ...idsIn(answer.sent.json) });
    shown.replaceChildren(...answer.elements);
  };
  onLoginChange((login) => {
    if (login !== undefined) return;
    asking.clear();
    shown.replaceChildren();
  });
  const button = (action: string, attributes: Parameters<typeof sendButton>[2]) => {
    const created = sendButton(draft, action, attributes);
    buttons.push(created);
    return created;
  };
  return {
    element: html("div", { class: "live", "aria-live": "polite" }, asking.element, shown),
    send,
    button,
  };
}

/** Creates a button that sends, or asks for the login that the request needs. */
function sendButton(draft: Draft, action: string, attributes: { click?: () => void; class?: string }) {
  const button = html("button", {
    type: attributes.click === undefined ? "submit" : "button",
    ...attributes,
  });
  onLoginChange((login) => {
    const isReady = draft.isPublic || login !== undefined;
    button.textContent = isReady ? action : `Log in to ${action.toLowerCase()}`;
  });
  return button;
}

/** @param keys for operations that take one, where none was entered. */
async function sendDraft(draft: Draft, keys: IdempotencyKeys, signal: AbortSignal): Promise<Sent> {
  const request = snippetOf(draft, undefined);
  const { url, method, headers = {}, body } = request;
  const wanted = JSON.stringify(request);
  const takesKey = draft.parameters.some(({ name }) => name === "Idempotency-Key");
  const start = performance.now();
  const answer = await (draft.isPublic ? fetchFrom : fetchWithToken)(url, {
    method,
    headers: {
      ...(takesKey ? { "Idempotency-Key": keys.of(wanted) } : {}),
      ...headers,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
  });
  const milliseconds = Math.round(performance.now() - start);
  if (!answer.ok) return { ...answer, milliseconds };
  const accepted = successful(answer, draft.mediaTypes);
  keys.accepted(wanted);
  return { ...accepted, milliseconds };
}

/** The ids in a body, or in the first member of a list in it. */
function idsIn(body: unknown): Readonly<Record<string, string>> {
  if (typeof body !== "object" || body === null) return {};
  const members = Object.entries(body);
  const ofLists = members.flatMap(([, value]) => (Array.isArray(value) ? [idsIn(value[0])] : []));
  const own = members.filter(([name, value]) => /^(?:i|.+I)d$/.test(name) && typeof value === "string");
  return Object.assign({}, ...ofLists, Object.fromEntries(own));
}
