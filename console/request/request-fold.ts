/** The form, folded into a line once it has an answer. */
import { html } from "../base/dom.ts";
import type { Query } from "../data/query.ts";
import { describeQuery } from "./describe-query.ts";
import type { Example } from "./examples.ts";

interface RequestFold {
  readonly element: HTMLDetailsElement;
  /** Says in a line what was asked for; undefined where there is no answer. */
  readonly describe: (query: Query | undefined) => void;
  /** Folds the form into that line. */
  readonly close: () => void;
}

/** Creates the fold, open. */
export function requestFold(form: HTMLFormElement, examples: readonly Example[]): RequestFold {
  const line = html("span", { class: "asked" });
  const summary = html("summary", {}, line);
  const element = html("details", { class: "request-fold", open: true }, summary, form);
  const describe = (query: Query | undefined) => {
    line.textContent = query === undefined ? "What to show" : describeQuery(query, examples);
  };
  describe(undefined);
  const close = () => {
    const hadFocus = form.contains(document.activeElement);
    element.open = false;
    if (hadFocus) summary.focus({ preventScroll: true });
  };
  return { element, describe, close };
}
