import { announce, element, html } from "./dom.ts";
import { ApiProblem, currentLogin, logIn, logOut, onLogin } from "./session.ts";

/** The login of the demo data (`tools/demo/profiles.json`): shown on this machine only, where anybody may read it. */
const demo = { emailaddress: "app@example.com", password: "correct horse battery staple" };

const isThisMachine = ["127.0.0.1", "[::1]", "localhost"].includes(location.hostname);

/** Shows the login while nobody is logged in, and afterwards who is. */
export function showLogin(): void {
  const dialog = element<HTMLDialogElement>("login");
  // Without a login there is nothing to see: Escape does not close it.
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  let wasLoggedIn = false;
  onLogin((login) => {
    const account = element("account");
    if (login === undefined) {
      account.replaceChildren();
      askWho(dialog, wasLoggedIn ? "Your session has ended. Log in again." : undefined);
      return;
    }
    wasLoggedIn = true;
    dialog.close();
    announce(`Logged in as ${login.username}.`);
    account.replaceChildren(
      html("span", { class: "who" }, login.username),
      html(
        "button",
        {
          type: "button",
          click: () => {
            wasLoggedIn = false;
            logOut();
          },
        },
        "Log out",
      ),
    );
  });
}

function askWho(dialog: HTMLDialogElement, message: string | undefined): void {
  const email = html("input", {
    id: "login-email",
    type: "email",
    autocomplete: "username",
    required: true,
    value: isThisMachine ? demo.emailaddress : "",
  });
  const password = html("input", {
    id: "login-password",
    type: "password",
    autocomplete: "current-password",
    required: true,
    value: isThisMachine ? demo.password : "",
  });
  const problem = html("p", { class: "problem", role: "alert" }, message);
  const button = html("button", { class: "primary wide" }, "Log in");
  const send = async (event: Event) => {
    event.preventDefault();
    button.disabled = true;
    problem.textContent = "";
    try {
      await logIn(email.value, password.value);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      problem.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  };
  dialog.replaceChildren(
    html(
      "form",
      { method: "dialog", submit: send },
      html("h2", { id: "login-title" }, "Log in"),
      html("p", { class: "note" }, "The access token stays in the memory of this page and ends with it."),
      problem,
      html("label", { for: "login-email" }, "E-mail address"),
      email,
      html("label", { for: "login-password" }, "Password"),
      password,
      button,
      isThisMachine && html("p", { class: "note" }, "The login of the demo data is filled in."),
    ),
  );
  if (!dialog.open) dialog.showModal();
  if (currentLogin() === undefined) button.focus();
}
