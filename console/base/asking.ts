/** How the page asks the API: says that it does, and lets people cancel, wait and try again. */
import { announce, buttonTo, html, linksTo } from "./dom.ts";
import { counted, separated } from "./numbers.ts";
import { allowedPlaces } from "./session.ts";
import { ApiError } from "./whole-answer.ts";

/** The longest wait that a refusal for too many requests asks for, and that is waited for. */
const maxWaitSeconds = 90;

/** What is asked, and how it is told. */
interface Question<Answer> {
  readonly ask: (signal: AbortSignal, say: (text: string) => void) => Promise<Answer>;
  /** Said while the answer is awaited. */
  readonly text?: string;
  /** Whether people can cancel. */
  readonly isCancellable?: boolean;
}

/** A place of the page that asks for one thing at a time. */
export class Asking {
  readonly element = html("div", { class: "asking" });
  #current: AbortController | undefined;

  /** Ends what is being asked, without a word. */
  abort(): void {
    this.#current?.abort();
    this.#current = undefined;
  }

  /** Removes what was said. */
  clear(): void {
    this.abort();
    this.element.replaceChildren();
  }

  /**
   * Asks, ending what was being asked before. Too many requests are waited for once.
   * @returns undefined if there is no answer: it was cancelled, or refused, and the page says so.
   */
  async ask<Answer>(question: Question<Answer>): Promise<Answer | undefined> {
    this.abort();
    const controller = new AbortController();
    this.#current = controller;
    try {
      const answer = await this.#askPatiently(question, controller);
      if (controller.signal.aborted) return undefined;
      this.element.replaceChildren();
      return answer;
    } catch (error) {
      if (controller.signal.aborted || (error instanceof DOMException && error.name === "AbortError")) {
        return undefined;
      }
      if (!(error instanceof ApiError)) throw error;
      announce("");
      return await this.#refused(question, error);
    }
  }

  async #askPatiently<Answer>(question: Question<Answer>, controller: AbortController): Promise<Answer> {
    const { ask, text = "Asking…", isCancellable = false } = question;
    const say = this.#progress(text, isCancellable ? () => this.#cancel(controller) : undefined);
    try {
      return await ask(controller.signal, say);
    } catch (error) {
      const { status, retryAfter } = error instanceof ApiError ? error : { status: 0, retryAfter: undefined };
      if (status !== 429 || retryAfter === undefined || retryAfter > maxWaitSeconds) throw error;
      for (let seconds = retryAfter; seconds > 0; seconds--) {
        say(`Too many requests: asking again in ${counted(seconds, "second")}.`);
        await aSecond(controller.signal);
      }
      say(text);
      return await ask(controller.signal, say);
    }
  }

  /** Says that the API is being asked, with a button that cancels. */
  #progress(text: string, cancel: (() => void) | undefined): (text: string) => void {
    const words = html("span", {}, text);
    const button = cancel && buttonTo("Cancel", cancel);
    this.element.replaceChildren(html("div", { class: "progress row spread" }, words, button));
    announce(text);
    return (next) => words.replaceChildren(next);
  }

  #cancel(controller: AbortController): void {
    controller.abort();
    const note = html("p", { class: "note", tabindex: -1 }, "Cancelled.");
    this.element.replaceChildren(note);
    note.focus();
    announce("Cancelled.");
  }

  /** Shows the error. @returns the answer, once somebody has tried again. */
  async #refused<Answer>(question: Question<Answer>, error: ApiError): Promise<Answer | undefined> {
    // What the API says is wrong with a request is wrong with it the next time.
    const isWorthAnother = ![400, 403, 404, 409].includes(error.status);
    return await new Promise((resolve) => {
      const again = () => void this.ask(question).then(resolve);
      this.element.replaceChildren(
        alertBox(
          error,
          error.status === 403 && allowedNote(),
          isWorthAnother && buttonTo("Try again", again),
        ),
      );
      if (!isWorthAnother) resolve(undefined);
    });
  }
}

/** Shows an error of the API, with its code and further details. */
function alertBox(error: ApiError, ...details: readonly (HTMLElement | false)[]): HTMLElement {
  return html(
    "div",
    { class: "problem", role: "alert" },
    html("p", {}, separated(error.message)),
    html("p", { class: "note" }, html("code", {}, error.code)),
    ...details,
  );
}

/** What the account may do instead. */
function allowedNote(): HTMLElement {
  const links = linksTo(allowedPlaces());
  const advice = "Log out, and log in with an account that has it. The reference stays open.";
  const allowed = links.length === 0 ? [] : ["This account may use: ", ...links, ". "];
  return html("p", { class: "note" }, ...allowed, advice);
}

async function aSecond(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, 1_000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
