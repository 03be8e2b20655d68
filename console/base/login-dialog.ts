import { demoLogin, isDemoCity } from "./demo.ts";
import { announce, buttonTo, element, html } from "./dom.ts";
import { currentLogin, type Login, logIn, logOut, onLoginChange, useToken } from "./session.ts";
import { isDark } from "./theme.ts";
import { ApiError } from "./whole-answer.ts";

/** Whether there is nothing to see without a login, as on the map; the reference can be read. */
function isRequired(): boolean {
  return document.body.dataset.view === "map";
}

/** Asks for a login, unless somebody is logged in. */
export function askForLogin(message?: string): void {
  if (currentLogin() === undefined) openDialog(element("login"), message);
}

/** Shows who is logged in, and asks for a login where one is needed, or when a session has ended. */
export function followLogin(): void {
  const dialog = element<HTMLDialogElement>("login");
  dialog.addEventListener("cancel", (event) => {
    if (isRequired()) event.preventDefault();
  });
  let hasSession = false;
  const endSession = () => {
    hasSession = false;
    logOut();
  };
  onLoginChange((login) => {
    showAccount(login, endSession);
    if (isDemoCity) void showStill(login === undefined);
    if (login === undefined) {
      if (hasSession) askForLogin("Your session has ended. Log in again.");
      else if (isRequired()) askForLogin();
      return;
    }
    hasSession = true;
    dialog.close();
    announce(`Logged in as ${login.username}.`);
  });
}

/** A still picture of the demo's map, of a modelled city: nobody was counted. It is loaded where nobody is logged in. */
let still: HTMLElement | undefined;

/** Shows the still picture of the demo's map in its place, or removes it. */
async function showStill(isShown: boolean): Promise<void> {
  if (isShown && still === undefined) {
    const { default: src } = await (isDark() ? import("./demo-dark.webp") : import("./demo.webp"));
    still ??= html("img", { class: "still", src, alt: "" });
  }
  if (currentLogin() === undefined && still !== undefined) element("stage").append(still);
  else still?.remove();
}

/** Shows who is logged in, with a button to log out, or one to log in. */
function showAccount(login: Login | undefined, onLogOut: () => void): void {
  const account = element("account");
  account.replaceChildren(
    ...(login === undefined
      ? [buttonTo("Log in", () => askForLogin())]
      : [html("span", { class: "who" }, login.username), buttonTo("Log out", onLogOut)]),
  );
}

function openDialog(dialog: HTMLDialogElement, message: string | undefined): void {
  const submit = html("button", { class: "primary wide" }, "Log in");
  dialog.replaceChildren(
    loginForm(submit, message),
    tokenForm(),
    ...(isRequired()
      ? [
          html(
            "p",
            { class: "note" },
            html("a", { href: "reference" }, "Read the reference"),
            " without a login.",
          ),
        ]
      : []),
  );
  if (!dialog.open) dialog.showModal();
  if (currentLogin() === undefined) submit.focus();
}

function loginForm(submit: HTMLButtonElement, message: string | undefined): HTMLFormElement {
  const email = html("input", {
    id: "login-email",
    type: "email",
    autocomplete: "username",
    required: true,
    value: demoLogin?.emailaddress ?? "",
  });
  const password = html("input", {
    id: "login-password",
    type: "password",
    autocomplete: "current-password",
    required: true,
    value: demoLogin?.password ?? "",
  });
  const problem = html("p", { class: "problem", role: "alert" }, message);
  const send = async (event: Event) => {
    event.preventDefault();
    submit.disabled = true;
    problem.textContent = "";
    try {
      await logIn(email.value, password.value);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      problem.textContent =
        error.status === 401 ? "The e-mail address or the password is wrong." : error.message;
    } finally {
      submit.disabled = false;
    }
  };
  return html(
    "form",
    { method: "dialog", submit: send },
    html("h2", { id: "login-title" }, "Log in"),
    html("p", { class: "note" }, "The login lasts until you log out, or close the tab."),
    problem,
    html("label", { for: "login-email" }, "E-mail address"),
    email,
    html("label", { for: "login-password" }, "Password"),
    password,
    submit,
    demoLogin !== undefined && html("p", { class: "note" }, "The login of the demo data is filled in."),
  );
}

/** For clients with a key, which have no password: their token is issued elsewhere. */
function tokenForm(): HTMLElement {
  const token = html("input", { id: "login-token", type: "password", autocomplete: "off", required: true });
  const problem = html("p", { class: "problem", role: "alert" });
  const submit = (event: Event) => {
    event.preventDefault();
    problem.textContent = useToken(token.value.trim())
      ? ""
      : "An access token is a JWT: three parts with dots between them.";
  };
  return html(
    "details",
    {},
    html("summary", {}, "Use an access token"),
    html(
      "form",
      { method: "dialog", submit },
      problem,
      html("label", { for: "login-token" }, "Access token"),
      token,
      html("button", { class: "wide" }, "Use the token"),
    ),
  );
}
