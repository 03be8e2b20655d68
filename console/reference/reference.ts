/** The reference: Swagger UI, which reads the API's document and sends requests with the token of this page. */
import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { assetUrl } from "../assets.ts";
import { element, html } from "../dom.ts";
import { apiUrl, currentLogin, onLogin } from "../session.ts";
import { isDark, onTheme } from "../theme.ts";
import { nameControls } from "./control-names.ts";

/** Shows the reference. */
export async function showReference(): Promise<void> {
  await loadStyle();
  const setTheme = () => document.documentElement.classList.toggle("dark-mode", isDark());
  onTheme(setTheme);
  setTheme();
  nameControls(element("reference"));
  let reference: Reference | undefined;
  onLogin((login) => {
    // An old one would keep the token, and show what was sent and answered, after its person has logged out.
    if (login === undefined || reference === undefined) reference = newReference();
    else reference.preauthorizeApiKey("bearer", login.token);
  });
}

type Reference = ReturnType<typeof SwaggerUI>;

function newReference(): Reference {
  const place = html("div");
  element("reference").replaceChildren(place);
  const reference = SwaggerUI({
    domNode: place,
    // The paths without their aliases.
    url: apiUrl("openapi.json?aliases=false"),
    // Otherwise the document is sent to somebody else's server.
    validatorUrl: null,
    deepLinking: false,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    persistAuthorization: false,
    tryItOutEnabled: true,
    syntaxHighlight: { activated: true, theme: "nord" },
    onComplete: () => {
      const login = currentLogin();
      if (login !== undefined) reference.preauthorizeApiKey("bearer", login.token);
    },
    requestInterceptor: (request) => {
      const login = currentLogin();
      const isOurs = new URL(request.url, document.baseURI).origin === location.origin;
      if (login !== undefined && isOurs) request.headers.Authorization ??= `Bearer ${login.token}`;
      return request;
    },
  });
  return reference;
}

async function loadStyle(): Promise<void> {
  const link = html("link", { rel: "stylesheet", href: assetUrl("referenceStyle") });
  await new Promise((resolve, reject) => {
    link.addEventListener("load", resolve);
    link.addEventListener("error", reject);
    document.head.append(link);
  });
}
